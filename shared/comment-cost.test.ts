import { expect, test } from 'vitest'
import { isCostlyMarkdown } from './comment-cost.ts'

test.each([
  ['an ordinary comment', 'Broken since **1.2**:\n\n- see `cart.ts`\n- [log](https://example.com)', false],
  ['emphasis inside fenced code', `\`\`\`\n${'*'.repeat(5_000)}\n\`\`\``, false],
  ['too much emphasis', '*a '.repeat(401), true],
  ['too many brackets', '['.repeat(401), true],
  ['lists nested 20 deep', `${'- '.repeat(20)}x`, true],
  ['quotes nested 20 deep', `${'>'.repeat(20)}x`, true],
  ['too many lines', 'x\n'.repeat(1_600), true],
  ['too many line prefixes', '> > > > > x\n'.repeat(400), true],
])('%s', (_what, body, isCostly) => {
  expect(isCostlyMarkdown(body)).toBe(isCostly)
})
