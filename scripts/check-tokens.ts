/**
 * Verifies the colours of `web/ui/tokens.css` by computation: the contrast of every pair that carries text or meaning
 * (WCAG 2.2), and the distance between chart series under normal vision and three simulated deficiencies (Machado
 * 2009). `node scripts/check-tokens.ts` prints the pairs that fail and exits with 1 when there is one.
 */
import { readFileSync } from 'node:fs'

const THEMES = ['light', 'dark'] as const
type Theme = (typeof THEMES)[number]
type Pair = readonly [foreground: string, background: string, least: number]
type Colour = { alias: string } | Record<Theme, string>

const surfaces = ['surface', 'canvas', 'sunken', 'raised', 'hover']
const families = ['red', 'orange', 'amber', 'green', 'violet', 'vermilion', 'blue', 'slate']
const statuses = ['unresolved', 'resolved', 'ignored', 'regressed', 'escalated']
const severities = ['critical', 'high', 'medium', 'low']
const series = [1, 2, 3, 4, 5, 6]

const on = (foregrounds: readonly string[], backgrounds: readonly string[], least: number): Pair[] =>
  foregrounds.flatMap((foreground) => backgrounds.map((background): Pair => [foreground, background, least]))

/** Text needs 4.5 to 1, marks and edges with a meaning 3 to 1. */
const PAIRS: readonly Pair[] = [
  ...on(['text', 'text-2', 'text-3'], [...surfaces, 'active', 'select-row'], 4.5),
  ...on(['accent'], [...surfaces, 'accent-bg', 'select-row'], 4.5),
  ...on(['on-ink'], ['ink', 'ink-hover'], 4.5),
  ...on(['focus'], surfaces, 3),
  ...on(['control'], ['surface', 'canvas', 'sunken', 'raised'], 3),
  ...families.flatMap((family) => on([`${family}-fg`], [...surfaces, 'select-row', `${family}-bg`], 4.5)),
  ...families.flatMap((family) => on([`${family}-solid`], ['surface', 'canvas'], 3)),
  ...on(
    statuses.map((status) => `status-${status}`),
    surfaces,
    4.5,
  ),
  ...on(
    severities.map((severity) => `severity-${severity}`),
    surfaces,
    4.5,
  ),
  ...on(
    series.map((n) => `series-${n}`),
    ['surface', 'canvas'],
    3,
  ),
  ...on(['ramp-2', 'ramp-3'], ['surface', 'band-good', 'band-warn', 'band-bad'], 3),
  ...on(['bar'], ['surface', 'canvas'], 3),
  ['red-fg', 'band-bad', 4.5],
  ['amber-fg', 'band-warn', 4.5],
  ['green-fg', 'band-good', 4.5],
  ...on(
    ['keyword', 'string', 'number', 'name', 'comment'].map((kind) => `code-${kind}`),
    ['sunken', 'surface', 'code-hit'],
    4.5,
  ),
  ['text', 'code-hit', 4.5],
]

/** OKLab; about five just-noticeable differences. */
const MIN_DISTANCE = 0.1

/** Matrices over linear RGB. */
const VISIONS: Readonly<Record<string, readonly (readonly [number, number, number])[]>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

type Rgb = readonly [number, number, number]

function linear(hex: string): Rgb {
  const part = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [part(1), part(3), part(5)]
}

const dot = (a: Rgb, b: Rgb): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
const luminance = (hex: string): number => dot(linear(hex), [0.2126, 0.7152, 0.0722])

/** Contrast of two colours as WCAG defines it, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)]
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
}

function oklab(rgb: Rgb): Rgb {
  const cones: Rgb = [
    Math.cbrt(dot(rgb, [0.4122214708, 0.5363325363, 0.0514459929])),
    Math.cbrt(dot(rgb, [0.2119034982, 0.6806995451, 0.1073969566])),
    Math.cbrt(dot(rgb, [0.0883024619, 0.2817188376, 0.6299787005])),
  ]
  return [
    dot(cones, [0.2104542553, 0.793617785, -0.0040720468]),
    dot(cones, [1.9779984951, -2.428592205, 0.4505937099]),
    dot(cones, [0.0259040371, 0.7827717662, -0.808675766]),
  ]
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value))

/** Distance of two colours in OKLab under a kind of vision. */
function distance(a: string, b: string, vision: readonly Rgb[]): number {
  const seen = (hex: string): Rgb => {
    const rgb = linear(hex)
    const [r = 0, g = 0, blue = 0] = vision.map((row) => clamp(dot(row, rgb)))
    return oklab([r, g, blue])
  }
  const [x, y] = [seen(a), seen(b)]
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2])
}

/** Returns one sentence for each pair that fails. @throws Error for a missing token */
export function tokenProblems(css: string): string[] {
  const colours = new Map<string, Colour>()
  for (const [, name, light, dark, alias] of css.matchAll(
    /--([\w-]+):\s*(?:light-dark\((#\w{6}),\s*(#\w{6})\)|var\(--([\w-]+)\))\s*;/g,
  )) {
    // The first definition: later ones are for higher contrast.
    if (name === undefined || colours.has(name)) continue
    if (alias !== undefined) colours.set(name, { alias })
    else if (light !== undefined && dark !== undefined) colours.set(name, { light, dark })
  }
  const valueOf = (name: string, theme: Theme): string => {
    const colour = colours.get(name)
    if (colour === undefined) throw new Error(`there is no token --${name}`)
    return 'alias' in colour ? valueOf(colour.alias, theme) : colour[theme]
  }
  const ofContrast = THEMES.flatMap((theme) =>
    PAIRS.flatMap(([foreground, background, least]) => {
      const got = contrast(valueOf(foreground, theme), valueOf(background, theme))
      return got < least ? [`${theme}: ${foreground} on ${background} is ${got.toFixed(2)}, needs ${least}`] : []
    }),
  )
  const ofDistance = THEMES.flatMap((theme) =>
    Object.entries(VISIONS).flatMap(([vision, matrix]) =>
      series.flatMap((a) =>
        series
          .filter((b) => b > a)
          .flatMap((b) => {
            const got = distance(valueOf(`series-${a}`, theme), valueOf(`series-${b}`, theme), matrix)
            return got < MIN_DISTANCE
              ? [`${theme}: series ${a} and ${b} are ${got.toFixed(3)} apart for ${vision} vision`]
              : []
          }),
      ),
    ),
  )
  return [...ofContrast, ...ofDistance]
}

/** The number of pairs checked, in both themes. */
export const pairCount = PAIRS.length * THEMES.length

if (import.meta.main) {
  const problems = tokenProblems(readFileSync(new URL('../web/ui/tokens.css', import.meta.url), 'utf8'))
  for (const problem of problems) console.log(`FAIL ${problem}`)
  console.log(`${pairCount} contrast pairs and the chart series, ${problems.length} failed`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
