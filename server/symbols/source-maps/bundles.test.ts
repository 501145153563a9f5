import { AnyMap, originalPositionFor } from '@jridgewell/trace-mapping'
import { expect, test } from 'vitest'
import { build } from 'vite'
import { buildSourceMapIndex } from './build-source-map-index.ts'
import { findSource, sourceContext } from './find-source.ts'

/** Builds a minified bundle of a file of this folder. */
async function bundle(entry: string): Promise<{ code: string; map: string }> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    root: import.meta.dirname,
    build: {
      write: false,
      minify: true,
      sourcemap: 'hidden',
      lib: { entry, formats: ['es'], fileName: 'bundle' },
      rolldownOptions: { external: /^node:/ },
    },
  })
  const chunk = [result].flat().flatMap((one) => ('output' in one ? one.output : []))[0]
  if (chunk?.type !== 'chunk' || chunk.map === null) throw new Error('the bundle has no map')
  return { code: chunk.code, map: chunk.map.toString() }
}

test('a minified bundle has the positions of trace-mapping, and its own functions and lines', async () => {
  const { code, map } = await bundle('read-functions.ts')
  const index = buildSourceMapIndex(Buffer.from(map))
  const read = (part: number): Buffer => index.parts[part] ?? Buffer.alloc(0)
  const oracle = new AnyMap(map)
  const names = new Set<string | null>()
  const differences: string[] = []
  const lines = code.split('\n')
  for (const [at, text] of lines.entries()) {
    for (let column = 0; column <= text.length; column++) {
      const expected = originalPositionFor(oracle, { line: at + 1, column })
      const found = findSource(index.directory, read, { line: at + 1, column: column + 1 })
      const isSame =
        found === null
          ? expected.source === null
          : found.source === expected.source &&
            found.line === expected.line &&
            found.column - 1 === expected.column &&
            found.name === expected.name
      if (!isSame) differences.push(`${at + 1}:${column}`)
      if (found !== null) names.add(found.functionName)
    }
  }
  expect(differences).toEqual([])
  expect([...names]).toEqual(
    expect.arrayContaining(['readVlq', 'readMetroFunctions', 'decodePlaces', 'isInSegment', 'FunctionRanges.nameAt']),
  )

  const place = code.indexOf('more than 32 bits')
  const line = code.slice(0, place).split('\n').length
  const column = place - code.lastIndexOf('\n', place)
  const found = findSource(index.directory, read, { line, column })
  expect(found).toMatchObject({ functionName: 'readVlq', isIgnored: false })
  const context = sourceContext(index.directory, read, found?.sourceIndex ?? -1, found?.line ?? -1, 2)
  expect(context?.line).toContain('more than 32 bits')
  expect(context?.pre).toHaveLength(2)
})
