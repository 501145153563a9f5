import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contrast, pairCount, tokenProblems } from './check-tokens.ts'

const css = readFileSync(new URL('../web/ui/tokens.css', import.meta.url), 'utf8')

test('every colour of text or with a meaning has enough contrast, in both themes', () => {
  expect(pairCount).toBe(394)
  expect(tokenProblems(css)).toEqual([])
})

test('contrast is computed as WCAG defines it', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
})

test('a colour that is too faint is found, and so are two chart series that look alike', () => {
  const faint = css.replace(/--text-3: light-dark\(#\w{6}/, '--text-3: light-dark(#b0b0b0')
  expect(tokenProblems(faint)).toContainEqual(expect.stringMatching(/^light: text-3 on surface is 2\.\d+, needs 4\.5$/))
  const alike = css.replace(/--series-2: [^;]+;/, '--series-2: light-dark(#114cbf, #4f8ef3);')
  expect(tokenProblems(alike)).toContainEqual('dark: series 1 and 2 are 0.000 apart for normal vision')
  expect(() => tokenProblems(css.replace(/--bar: [^;]+;/, ''))).toThrow('there is no token --bar')
})
