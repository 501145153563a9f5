import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { compareWithRetrace } from '#test/kit/retrace-oracle.ts'

/**
 * Stack traces of an app that R8 shrank, beside the output of its own Retrace; `test/fixtures/proguard/generate.mjs`
 * writes all files.
 */
const read = (name: string): string => readFileSync(`test/fixtures/proguard/${name}.txt`, 'utf8')

it.each([
  { kind: 'class', differing: 0 },
  { kind: 'dex', differing: 62 },
])(
  'the mapping of a $kind build gives the frames that Retrace gives, and some that it loses',
  ({ kind, differing }) => {
    const { traces, differences, unexplained } = compareWithRetrace({
      mapping: read(`mapping-${kind}`),
      traces: read(`traces-${kind}`),
      expected: read(`expected-${kind}`),
    })
    expect(traces).toBeGreaterThan(100)
    expect(unexplained).toEqual([])
    expect(differences).toHaveLength(differing)
  },
)
