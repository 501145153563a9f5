import { readFileSync } from 'node:fs'
import { AnyMap, decodedMappings } from '@jridgewell/trace-mapping'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { buildSourceMapIndex } from './build-source-map-index.ts'
import { findSource, sourceContext } from './find-source.ts'

/** Bundles of Metro and Hermes, and the answers of metro-symbolicate (`test/fixtures/source-maps/make-hermes.mjs`). */
const Changes = z.array(
  z.tuple([z.number(), z.number(), z.tuple([z.string(), z.number(), z.number(), z.string().nullable()]).nullable()]),
)
const fixture = z
  .object({
    hermes: z.object({ map: z.unknown(), stack: z.string(), symbolicated: z.string(), changes: Changes }),
    metro: z.object({ map: z.unknown(), changes: Changes }),
  })
  .parse(JSON.parse(readFileSync(new URL('../../../test/fixtures/source-maps/hermes.json', import.meta.url), 'utf8')))

test.each(['hermes', 'metro'] as const)('all positions of a bundle of %s are those of metro-symbolicate', (kind) => {
  const { map, changes } = fixture[kind]
  const text = JSON.stringify(map)
  const index = buildSourceMapIndex(Buffer.from(text))
  const mappings = decodedMappings(new AnyMap(text))
  let ambiguous = 0
  for (const [at, [line, from, expected]] of changes.entries()) {
    const next = changes[at + 1]
    // An answer holds until the next one in its line.
    const last = next === undefined || next[0] !== line ? from : next[1] - 1
    for (const column of [from, Math.floor((from + last) / 2), last]) {
      const query = { line, column: column + 1 }
      const found = findSource(index.directory, (part) => index.parts[part] ?? Buffer.alloc(0), query)
      const ours = found === null ? null : [found.source, found.line, found.column - 1, found.functionName]
      // Where several mappings have one column, its library takes any of them.
      const segments = mappings[line - 1] ?? []
      const mapped = segments.findLast((segment) => segment[0] <= column)?.[0]
      const isAmbiguous = segments.filter((segment) => segment[0] === mapped).length > 1
      if (isAmbiguous) ambiguous++
      expect(isAmbiguous ? ours?.toSpliced(1, 2) : ours, `${line}:${column}`).toEqual(
        isAmbiguous ? expected?.toSpliced(1, 2) : expected,
      )
    }
  }
  expect(ambiguous).toBeLessThan(60)
})

test('the stack of a crash in bytecode of Hermes becomes readable', () => {
  const index = buildSourceMapIndex(Buffer.from(JSON.stringify(fixture.hermes.map)))
  const read = (part: number): Buffer => index.parts[part] ?? Buffer.alloc(0)
  const frames = [...fixture.hermes.stack.matchAll(/address at \S+:1:(\d+)/g)].map(([, offset]) => {
    const found = findSource(index.directory, read, { line: 1, column: Number(offset) + 1 })
    if (found === null) return null
    const context = sourceContext(index.directory, read, found.sourceIndex, found.line, 0)
    return [found.functionName, found.source, found.line, context?.line.trim() ?? null]
  })
  expect(frames.slice(0, 5)).toEqual([
    ['Checkout#priceOf', '/app/checkout.ts', 19, 'const item = items.get(format(name))'],
    [
      'names.map$argument_0',
      '/app/checkout.ts',
      15,
      'return this.names.map((name) => this.priceOf(name)).reduce((sum, price) => sum + price, 0)',
    ],
    [
      'Checkout#pay',
      '/app/checkout.ts',
      15,
      'return this.names.map((name) => this.priceOf(name)).reduce((sum, price) => sum + price, 0)',
    ],
    ['onPress', '/app/index.js', 5, "const buttons = [{ title: 'Pay', onPress: () => new Checkout(['shoes']).pay() }]"],
    ['buttons.forEach$argument_0', '/app/index.js', 8, 'buttons.forEach((button) => button.onPress())'],
  ])
})
