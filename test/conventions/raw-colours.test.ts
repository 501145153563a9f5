import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const web = join(import.meta.dirname, '../../web')

/** Hex, functional notations and the names people reach for first. */
const inStyles =
  /#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\((?!\s*from\s+var\(|-mix)|:\s*(?:white|black|red|green|blue|gray|grey|orange|yellow|purple)\b/gi
/** In code only inside quotes: `#` also begins anchors and issue numbers there. */
const inCode = /(['"`])(?:#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|(?:rgba?|hsla?|oklch|oklab)\([^'"`]*\))\1/gi

const coloursIn = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([match]) => match)

test('colours come from the tokens, in both themes', () => {
  const files = globSync('**/*.{css,ts,tsx}', { cwd: web, exclude: (name) => name.startsWith('dist') }).filter(
    (file) => !file.endsWith('tokens.css') && !file.includes('.test.'),
  )
  expect(files.length).toBeGreaterThan(10)
  const found = files.flatMap((file) => {
    const text = readFileSync(join(web, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
    return coloursIn(text, file.endsWith('.css') ? inStyles : inCode).map((colour) => `web/${file}: ${colour}`)
  })
  expect(found).toEqual([])
})

test('a raw colour would be noticed', () => {
  expect(coloursIn('a { color: #fff; background: rgb(0 0 0 / 50%); border-color: white }', inStyles)).toHaveLength(3)
  expect(
    coloursIn('a { color: var(--white); background: color-mix(in oklab, var(--a), transparent) }', inStyles),
  ).toEqual([])
  expect(coloursIn(`stroke('#12ab34'); fill("rgba(0,0,0,.5)")`, inCode)).toHaveLength(2)
  expect(coloursIn(`href('#top'); short('SHOP#42')`, inCode)).toEqual([])
})
