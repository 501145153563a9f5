import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  classesOf,
  countRepeated,
  declarationsOf,
  rawColours,
  rawSpaces,
  readSources,
  repetitionProblems,
  styleProblems,
  windowQueries,
} from './check-styles.ts'

const web = readSources(join(import.meta.dirname, '../web'))

/** Checks the dashboard's sources with files that a change adds or replaces. */
const changed = (...files: [string, string][]): string[] => styleProblems(new Map([...web, ...files]))

test('the dashboard takes its colours, spaces and classes from tokens and modules', () => {
  expect([...web.keys()].filter((file) => file.endsWith('.css')).length).toBeGreaterThan(10)
  expect(styleProblems(web)).toEqual([])
})

test('a raw space, colour, font size or radius is refused', () => {
  const card = ['ui/odd.tsx', "import styles from './odd.module.css'\nexport const odd = styles.card"] as const
  const wrong = '.card { padding: 14px 0; color: #fff; font-size: 12px; border-radius: 5px }'
  expect(changed([...card], ['ui/odd.module.css', wrong])).toEqual([
    'ui/odd.module.css: raw colour #fff: take one of web/ui/tokens.css',
    'ui/odd.module.css: raw padding 14px: take one of web/ui/tokens.css',
    'ui/odd.module.css: raw font-size 12px: take one of web/ui/tokens.css',
    'ui/odd.module.css: raw border-radius 5px: take one of web/ui/tokens.css',
  ])
  const right = '.card { padding: var(--space-14) 0; margin-inline: auto -1px; color: var(--text) }'
  expect(changed([...card], ['ui/odd.module.css', right])).toEqual([])
})

test('a class that does not exist, one that nothing uses, and a sheet that is not a module are refused', () => {
  const tsx = "import styles from './odd.module.css'\nexport const odd = [styles.card, styles.crad]"
  expect(changed(['ui/odd.tsx', tsx], ['ui/odd.module.css', '.card, .row { color: inherit }'])).toEqual([
    'ui/odd.tsx: ui/odd.module.css has no class crad',
    'ui/odd.module.css: nothing uses the class row',
  ])
  expect(changed(['ui/odd.module.css', '.card { color: inherit }'])).toEqual(['ui/odd.module.css: nothing imports it'])
  expect(changed(['features/odd/odd.css', '.card { color: inherit }'])).toEqual([
    'features/odd/odd.css: a sheet is a CSS module beside its component (*.module.css)',
  ])
  const hidden =
    "import styles from './odd.module.css'\nexport const odd = (name: 'card') => styles[name] ?? styles.card"
  expect(changed(['ui/odd.tsx', hidden], ['ui/odd.module.css', '.card { color: inherit }'])).toEqual([
    'ui/odd.tsx: classes are written out; styles[…] hides which are used',
  ])
})

test('raw colours are found in styles and code', () => {
  const found = (file: string, text: string): number => rawColours(file, text).length
  expect(found('a.css', 'a { color: #fff; background: rgb(0 0 0 / 50%); border-color: white }')).toBe(3)
  expect(found('a.css', 'a { color: var(--white); background: color-mix(in oklab, var(--a), transparent) }')).toBe(0)
  expect(found('a.ts', `stroke('#12ab34'); fill("rgba(0,0,0,.5)")`)).toBe(2)
  expect(found('a.ts', `href('#top'); short('SHOP#42')`)).toBe(0)
})

test('raw spaces are found in styles and code; hairlines, percentages and sizes are allowed', () => {
  const found = (file: string, text: string): number => rawSpaces(file, text).length
  expect(found('a.css', 'a { margin: -6px 0.5rem; gap: 1.5em; font: 12px/1.4 var(--font-mono); row-gap: 8px }')).toBe(5)
  expect(
    found('a.css', 'a { scroll-margin-block: 40px; border-end-end-radius: 4px; margin-block-start: 11.5px }'),
  ).toBe(3)
  expect(found('a.css', 'a { margin: 0 1px -1px auto; inline-size: 14px; border-radius: 50%; inset: 4px }')).toBe(0)
  expect(found('a.css', 'a { padding: calc(var(--tabbar) + var(--space-8)) calc(-1 * var(--space-4)) }')).toBe(0)
  expect(found('a.tsx', '<p style={{ marginTop: 4, padding: "2px" }} />')).toBe(2)
  expect(found('a.tsx', '<p style={{ inlineSize: 4, margin: 0 }} />')).toBe(0)
})

test('a media query for a width is refused outside the shell', () => {
  const found = (file: string, text: string): number => windowQueries(file, text).length
  expect(
    found('ui/a.module.css', '@media (max-width: 860px) { } @media (400px < width) { } @media (width > 1px) { }'),
  ).toBe(3)
  expect(found('ui/a.module.css', '@container (width <= 600px) { } @media (pointer: coarse) { .wide { } }')).toBe(0)
  expect(found('ui/a.tsx', "matchMedia('(max-width: 860px)')")).toBe(1)
  expect(found('ui/a.tsx', "matchMedia('(prefers-color-scheme: dark)')")).toBe(0)
  expect(found('shell/a.module.css', '@media (max-width: 860px) { }')).toBe(0)
  const odd = '.card { color: inherit } @media (width < 50em) { .card { color: inherit } }'
  expect(
    changed(
      ['ui/odd.tsx', "import styles from './odd.module.css'\nexport const odd = styles.card"],
      ['ui/odd.module.css', odd],
    ),
  ).toEqual([
    'ui/odd.module.css: @media (width < 50em): ask the width of the container (@container); only web/shell asks that of the window',
  ])
})

test('the classes of a module are those of its selectors', () => {
  const css = `@layer pages { .card:is(.open, .shut) > :global(.btn) { color: red } @media (width < 860px) { .row-2 { --a: 'x.y' } } }
    /* .old { } */ @container card (inline-size > 300px) { .wide::before { content: '.no' } }`
  expect([...classesOf(css)]).toEqual(['card', 'open', 'shut', 'row-2', 'wide'])
})

test('the declarations of a rule are compared whatever their order, spaces, comments and queries', () => {
  const css = `@layer pages { .a { color: red; margin:0 /* . */ auto } @container (width < 9em) { .b{margin: 0  auto;color:red;} }
    @keyframes rise { from { color: red } } .c::after { content: '; }'; } .d { } @font-face { src: local('x') } }`
  expect(declarationsOf(css)).toEqual([
    'color: red; margin: 0 auto',
    'color: red; margin: 0 auto',
    "content: '; }'",
    '',
  ])
})

test('a rule that repeats one of another sheet is counted, and refused beyond the maximum', () => {
  expect(repetitionProblems(web)).toEqual([])
  const { rules, repeated } = countRepeated(web)
  const more = new Map([...web, ['ui/odd.module.css', '.a { zoom: 1; order: 77 } .b { order: 77; zoom: 1 }'] as const])
  expect(countRepeated(more)).toEqual({ rules: rules + 2, repeated: repeated + 1 })
  expect(repetitionProblems(more, repeated)).toEqual([
    expect.stringContaining(`${repeated + 1} of ${rules + 2} CSS rules repeat the declarations of another rule`),
  ])
})
