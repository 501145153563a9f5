import { AnyMap, originalPositionFor } from '@jridgewell/trace-mapping'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { threadCpuMs } from '#server/platform/kernel/thread-task.ts'
import { cases } from '#test/kit/properties.ts'
import { SymbolFileError, type BuiltIndex } from '../index-file/built-index.ts'
import { buildSourceMapIndex } from './build-source-map-index.ts'
import { findSource, sourceContext, sourceContextParts, sourceMapParts, type GeneratedPosition } from './find-source.ts'

const indexOf = (map: unknown): BuiltIndex => buildSourceMapIndex(Buffer.from(JSON.stringify(map)))

/** Only parts that `sourceMapParts` names are read. */
function find(index: BuiltIndex, query: GeneratedPosition): ReturnType<typeof findSource> {
  const allowed = new Set(sourceMapParts(index.directory, query))
  return findSource(
    index.directory,
    (part) => {
      if (!allowed.has(part)) throw new Error(`part ${part} was not announced`)
      return index.parts[part] ?? Buffer.alloc(0)
    },
    query,
  )
}

const refusal = (text: string | Buffer): string => {
  try {
    buildSourceMapIndex(Buffer.from(text))
  } catch (error) {
    if (error instanceof SymbolFileError) return error.message
    throw error
  }
  return 'accepted'
}

const refusalOf = (map: unknown): string => refusal(JSON.stringify(map))

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const vlq = (value: number): string => {
  let rest = value < 0 ? -value * 2 + 1 : value * 2
  let text = ''
  do {
    const digit = rest % 32
    rest = Math.floor(rest / 32)
    text += BASE64[digit + (rest > 0 ? 32 : 0)]
  } while (rest > 0)
  return text
}

type Row = readonly number[]

type RandomMap = {
  readonly sources: readonly string[]
  readonly names: readonly string[]
  readonly lines: readonly (readonly [readonly Row[], boolean])[]
}

/** Segments as absolute numbers, in the order given. */
function encode(lines: readonly (readonly Row[])[]): string {
  const before = [0, 0, 0, 0, 0]
  return lines
    .map((line) => {
      before[0] = 0
      return line
        .map((segment) =>
          segment
            .map((value, field) => {
              const text = vlq(value - (before[field] ?? 0))
              before[field] = value
              return text
            })
            .join(''),
        )
        .join(',')
    })
    .join(';')
}

const plain = { version: 3, sources: ['a.js'], names: ['n'], mappings: 'AAAAA' }

describe('positions', () => {
  const arbitraryLine = fc.array(
    fc.oneof(
      fc.tuple(fc.nat(40)),
      fc.tuple(fc.nat(40), fc.nat(3), fc.nat(9), fc.nat(9)),
      fc.tuple(fc.nat(40), fc.nat(3), fc.nat(9), fc.nat(9), fc.nat(2)),
    ),
    { maxLength: 90 },
  )
  const arbitraryMap = fc.record({
    sources: fc.constant(['a.ts', 'b.ts', 'src/c.ts', 'webpack:///d.ts']),
    names: fc.constant(['x', 'y', 'z']),
    lines: fc.array(fc.tuple(arbitraryLine, fc.boolean()), { maxLength: 5 }),
  })
  const toMap = ({ sources, names, lines }: RandomMap) => ({
    version: 3,
    sources,
    names,
    mappings: encode(
      lines.map(([line, isSorted]) => (isSorted ? line.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0)) : line)),
    ),
  })

  const agrees = (map: object): void => {
    const index = indexOf(map)
    const oracle = new AnyMap(JSON.stringify(map))
    for (let line = 1; line < 12; line++) {
      for (let column = 0; column < 45; column++) {
        const expected = originalPositionFor(oracle, { line, column })
        const found = find(index, { line, column: column + 1 })
        const ours =
          found === null
            ? { source: null, line: null, column: null, name: null }
            : { source: found.source, line: found.line, column: found.column - 1, name: found.name }
        expect(ours, `${line}:${column}`).toEqual(expected)
      }
    }
  }

  test('are those of @jridgewell/trace-mapping, in and out of order', () => {
    fc.assert(
      fc.property(arbitraryMap, (map) => {
        agrees(toMap(map))
      }),
      { numRuns: cases(150, 3_000) },
    )
  })

  test('of maps with sections too', () => {
    const section = fc.tuple(fc.nat(2), fc.nat(30), arbitraryMap)
    fc.assert(
      fc.property(fc.array(section, { minLength: 1, maxLength: 4 }), (sections) => {
        let line = 0
        let column = 0
        agrees({
          version: 3,
          sections: sections.map(([lines, columns, map]) => {
            column = lines === 0 ? column + columns : columns
            line += lines
            return { offset: { line, column }, map: toMap(map) }
          }),
        })
      }),
      { numRuns: cases(100, 2_000) },
    )
  })

  test('of one line with very many segments are found across its parts', () => {
    const sources = Array.from({ length: 50 }, (_, index) => `src/module-${index}.ts`)
    const names = Array.from({ length: 400 }, (_, index) => `name${index}`)
    const line: Row[] = []
    for (let at = 0, column = 0; at < 200_000; at++) {
      column += (at * 7) % 5
      const source = Math.floor(at / 4_000)
      line.push(
        at % 97 === 0
          ? [column]
          : at % 3 === 0
            ? [column, source, at % 4_000, at % 71, at % 400]
            : [column, source, at % 4_000, at % 71],
      )
    }
    const map = { version: 3, sources, names, mappings: encode([[], line, [[3, 0, 1, 1]]]) }
    const index = indexOf(map)
    expect(index.parts.length).toBeGreaterThan(3)
    const oracle = new AnyMap(JSON.stringify(map))
    for (let column = 0; column < 400_000; column += 17) {
      const expected = originalPositionFor(oracle, { line: 2, column })
      const found = find(index, { line: 2, column: column + 1 })
      expect([found?.source ?? null, found?.line ?? null, found?.name ?? null], String(column)).toEqual([
        expected.source,
        expected.line,
        expected.name,
      ])
    }
    expect(find(index, { line: 3, column: 2 })).toBeNull()
    expect(find(index, { line: 3, column: 4 })).toMatchObject({ source: 'src/module-0.ts', line: 2, column: 2 })
  })

  test('without a column are the first of their line with a source', () => {
    const map = {
      ...plain,
      mappings: encode([[[0], [4, 0, 6, 1, 0]], [], [[9], [9, 0, 8, 2], [12, 0, 9, 2]], [[2]]]),
    }
    const index = indexOf(map)
    expect(find(index, { line: 1, column: null })).toMatchObject({ line: 7, column: 2, name: 'n' })
    expect(find(index, { line: 2, column: null })).toBeNull()
    expect(find(index, { line: 3, column: null })).toMatchObject({ line: 9 })
    expect(find(index, { line: 4, column: null })).toBeNull()
    for (const line of [0, -3, 5, 2 ** 31 - 1]) expect(find(index, { line, column: null })).toBeNull()
  })

  test('at column 0 are those of column 1', () => {
    expect(find(indexOf(plain), { line: 1, column: 0 })).toMatchObject({ source: 'a.js', line: 1, column: 1 })
  })

  test('of a source without a name are none', () => {
    const index = indexOf({
      ...plain,
      sources: [null, 'b.js'],
      mappings: encode([
        [
          [0, 0, 1, 1],
          [5, 1, 1, 1],
        ],
      ]),
    })
    expect(find(index, { line: 1, column: 2 })).toBeNull()
    expect(find(index, { line: 1, column: 7 })).toMatchObject({ source: 'b.js' })
  })

  test('have their source below sourceRoot, and know ignored sources', () => {
    const map = {
      ...plain,
      sourceRoot: 'https://example.org/app',
      sources: ['./a.js', '../lib/b.js', 'webpack://x/./c.js', '/d.js'],
      mappings: encode([
        [
          [0, 0, 0, 0],
          [1, 1, 0, 0],
          [2, 2, 0, 0],
          [3, 3, 0, 0],
        ],
      ]),
      x_google_ignoreList: [1],
    }
    const index = indexOf(map)
    const found = [1, 2, 3, 4].map((column) => find(index, { line: 1, column }))
    expect(found.map((one) => one?.source)).toEqual([
      'https://example.org/app/a.js',
      'https://example.org/lib/b.js',
      'webpack://x/c.js',
      '/d.js',
    ])
    expect(found.map((one) => one?.isIgnored)).toEqual([false, true, false, false])
    expect(find(indexOf({ ...map, ignoreList: [0] }), { line: 1, column: 1 })?.isIgnored).toBe(true)
  })
})

describe('lines of a source', () => {
  const at = (index: BuiltIndex, line: number, around?: number): ReturnType<typeof sourceContext> =>
    sourceContext(index.directory, (part) => index.parts[part] ?? Buffer.alloc(0), 0, line, around)

  test('are those around a position, whatever ends them', () => {
    const index = indexOf({ ...plain, sourcesContent: ['one\r\ntwo\rthree\u2028four 😀\nfive\n'] })
    expect(at(index, 3, 1)).toEqual({ pre: ['two'], line: 'three', post: ['four 😀'] })
    expect(at(index, 1)).toEqual({ pre: [], line: 'one', post: ['two', 'three', 'four 😀', 'five', ''] })
    expect(at(index, 7)).toBeNull()
    expect(at(index, 0)).toBeNull()
  })

  test('are found in a source of several parts, in the parts that the position names', () => {
    const lines = Array.from({ length: 20_000 }, (_, line) => `const line${line} = ${line} // ${'x'.repeat(line % 50)}`)
    const mappings = encode([Array.from({ length: 2_000 }, (_, segment) => [segment, 1, segment * 10, 0])])
    const index = indexOf({
      ...plain,
      sources: ['a.js', 'b.css', 'c.js'],
      sourcesContent: ['small', lines.join('\n')],
      mappings,
    })
    expect(index.parts.length).toBeGreaterThan(5)
    for (let column = 1; column < 2_000; column += 13) {
      const position = find(index, { line: 1, column })
      const wanted = (column - 1) * 10
      expect(position?.line).toBe(wanted + 1)
      const parts = new Set(position ? sourceContextParts(index.directory, position, 2) : [])
      expect(parts.size).toBeLessThan(3)
      const read = (part: number): Buffer => {
        expect(parts).toContain(part)
        return index.parts[part] ?? Buffer.alloc(0)
      }
      expect(sourceContext(index.directory, read, 1, wanted + 1, 2)).toEqual({
        pre: lines.slice(Math.max(0, wanted - 2), wanted),
        line: lines[wanted],
        post: lines.slice(wanted + 1, wanted + 3),
      })
    }
  })

  test('are cut when they are very long, and missing where the map has no content', () => {
    const index = indexOf({
      ...plain,
      sources: ['a.js', 'b.js'],
      sourcesContent: ['x'.repeat(5_000_000), 'y'.repeat(9_000_000)],
    })
    expect(at(index, 1)?.line).toHaveLength(1_001)
    expect(find(indexOf({ ...plain, sourcesContent: [null] }), { line: 1, column: 1 })?.hasContent).toBe(false)
    expect(at(indexOf(plain), 1)).toBeNull()
  })
})

describe('a file that is no usable source map', () => {
  test.each([
    ['', 'The file is empty.'],
    ['{"version":3,', 'not complete JSON'],
    ['{"version":3,"sources":["a"],"mappings":"AAAA"', 'not complete JSON'],
    ['{"version":3,"sources":["a"],"mappings":"AAAA"} x', 'not complete JSON'],
    ['{"version":3,"sources":["a" "b"],"mappings":"AAAA"}', 'not complete JSON'],
    ['{version:3}', 'not complete JSON'],
    ['{"version":3]', 'not complete JSON'],
    ['[]', 'not JSON'],
    ['var a=1;', 'not JSON'],
    ['<!doctype html><title>404</title>', 'HTML page'],
    ['\ufeff  <html>', 'HTML page'],
    ['){', 'not JSON'],
    [")]}'", 'The file is empty.'],
    ['{}', 'without a version'],
    ['{"version":2}', 'not version 3'],
    ['{"version":[[3]]}', 'not version 3'],
    ['{"version":3,"sources":["a"]}', 'no mappings'],
    ['{"version":3,"sources":["a"],"mappings":[["AAAA"]]}', 'not a text'],
    ['{"version":3,"mappings":""}', 'no list of sources'],
    ['{"version":3,"sources":"a.js","mappings":""}', 'no list of sources'],
    ['{"version":3,"sources":[],"mappings":""}', 'names no sources'],
    ['{"version":3,"sections":[]}', 'names no sources'],
  ])('%j is refused with a sentence', (text, sentence) => {
    expect(refusal(text)).toContain(sentence)
  })

  test.each([
    ['ACAA', 'point outside its sources: line 1 names source 1 of 1'],
    ['AAAA,ADAA', 'point outside its sources'],
    ['D', 'column that is negative'],
    ['AADA', 'line of a source that is negative'],
    [';;AAAD', 'column of a source that is negative or too large, in line 3'],
    ['AA', 'one, four or five numbers'],
    ['AAA', 'one, four or five numbers'],
    ['AAAAAA', 'one, four or five numbers'],
    ['A!', 'not base64 VLQ'],
    ['AAA ', 'not base64 VLQ'],
    ['ggggggggggggggggggggA', 'more than 32 bits'],
    ['g', 'not base64 VLQ'],
    ['+/////D,+/////D', 'negative or too large'],
    ['B', 'negative or too large'],
  ])('mappings %j are refused', (mappings, sentence) => {
    expect(refusalOf({ ...plain, mappings })).toContain(sentence)
  })

  test('sections that cannot be read are refused', () => {
    const section = (line: number, column: number) => ({ offset: { line, column }, map: plain })
    const refused = (sections: unknown): string => refusalOf({ version: 3, sections })
    expect(refused([{ offset: { line: 0, column: 0 }, url: 'a.map' }])).toContain('refers to another file')
    expect(refused([section(3, 0), section(1, 0)])).toContain('not in the order')
    expect(refused([section(0, 9), section(0, 2)])).toContain('not in the order')
    expect(refused([section(-1, 0)])).toContain('no offset')
    expect(refused([section(0, 0.5)])).toContain('no offset')
    expect(refused([section(2 ** 31, 0)])).toContain('no offset')
    expect(refused([{ map: plain }])).toContain('no offset')
    expect(refused([3])).toContain('has no map')
    expect(refused([{ offset: { line: 0, column: 0 }, map: 'x' }])).toContain('not a JSON object')
    expect(refused([section(2 ** 31 - 1, 0)])).toContain('too large')
    let nested: unknown = plain
    for (let depth = 0; depth < 50; depth++) {
      nested = { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: nested }] }
    }
    expect(refusalOf(nested)).toContain('sections in sections')
  })

  test('never throws anything else, whatever is damaged', () => {
    const whole = Buffer.from(
      JSON.stringify({
        version: 3,
        sections: [
          { offset: { line: 0, column: 0 }, map: { ...plain, sourcesContent: ['function a(){}'], ignoreList: [0] } },
          {
            offset: { line: 1, column: 2 },
            map: { ...plain, x_facebook_sources: [[{ names: ['a'], mappings: 'AAA' }]] },
          },
        ],
      }),
    )
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, byte, cut) => {
        const damaged = Buffer.from(whole)
        damaged[at] = byte
        refusal(damaged)
        refusal(damaged.subarray(0, cut))
      }),
      { numRuns: cases(300, 20_000) },
    )
  })
})

describe('an odd file that is a usable source map', () => {
  test.each([
    ['a byte order mark', '\ufeff'],
    ['the prefix against running it', ")]}'\n"],
    ['both', "\ufeff)]}'\n"],
    ['spaces', ' \n\t'],
  ])('%s before it is skipped', (_, prefix) => {
    const index = buildSourceMapIndex(Buffer.from(prefix + JSON.stringify(plain)))
    expect(find(index, { line: 1, column: 1 })).toMatchObject({ source: 'a.js', name: 'n' })
  })

  test('lists that are too short, too long or of the wrong type do no harm', () => {
    const odd = {
      ...plain,
      names: [null, 3, 'ok'],
      sources: ['a.js', 7, 'c.js'],
      sourcesContent: [5, 'x'],
      ignoreList: [99, -1, 'x'],
      x_facebook_sources: [null, 'x', [{ names: 'y' }], 4],
      x_metro_module_paths: ['a'],
      x_hermes_function_offsets: { 0: [1, 2] },
      mappings: encode([
        [
          [0, 0, 0, 0, 0],
          [1, 0, 0, 1, 2],
          [2, 0, 0, 2, 900],
          [3, 2, 0, 2],
        ],
      ]),
    }
    const index = indexOf(odd)
    expect([1, 2, 3, 4].map((column) => find(index, { line: 1, column })?.name)).toEqual([null, 'ok', null, null])
    expect(find(index, { line: 1, column: 4 })?.source).toBe('c.js')
  })

  test('depth costs nothing', () => {
    const deep = '['.repeat(1_000_000)
    const end = ']'.repeat(1_000_000)
    expect(refusal(`{"version":3,"sources":["a.js"],"x":${deep}${end},"mappings":"AAAA"}`)).toBe('accepted')
    expect(refusal(`{"version":3,"sources":["a.js",${deep}${end}],"mappings":"AAAA"}`)).toBe('accepted')
    expect(refusal(`{"version":3,"x":${deep}`)).toContain('not complete JSON')
    const calls = `${'f('.repeat(200_000)}${')'.repeat(200_000)}`
    expect(refusalOf({ ...plain, sourcesContent: [calls] })).toBe('accepted')
  })

  test('escaped slashes in mappings are digits', () => {
    const map = JSON.stringify({ ...plain, mappings: '+/////BAAA' }).replaceAll('/', String.raw`\/`)
    const index = buildSourceMapIndex(Buffer.from(map))
    expect(find(index, { line: 1, column: 2 ** 31 - 1 })).toMatchObject({ source: 'a.js' })
  })

  test('a million sources and a million lines are read', () => {
    const sources = Array.from({ length: 1_000_000 }, (_, index) => `s${index}.js`)
    const mappings = `${';'.repeat(1_000_000)}${encode([[[0, 999_999, 3, 4]]])}`
    const index = indexOf({ ...plain, sources, mappings })
    expect(find(index, { line: 1_000_001, column: 1 })).toMatchObject({ source: 's999999.js', line: 4, column: 5 })
    expect(index.directory.length).toBeLessThan(100)
  })

  test('names of a megabyte are cut', () => {
    const huge = 'n'.repeat(1_000_000)
    const index = indexOf({ ...plain, names: [huge], sources: [`${huge}.js`] })
    expect(find(index, { line: 1, column: 1 })?.name).toHaveLength(500)
  })

  test('a source that the parser needs very long for delays no other one for long', { timeout: 120_000 }, () => {
    const endless = `${'<T>('.repeat(60)}b${')=>c'.repeat(60)}`
    const map = {
      ...plain,
      sources: ['a.ts', 'b.ts'],
      mappings: encode([
        [
          [0, 0, 0, 0],
          [1, 1, 0, 15],
        ],
      ]),
    }
    const before = threadCpuMs()
    const index = indexOf({ ...map, sourcesContent: [endless, 'function pay() { x }'] })
    expect(threadCpuMs() - before).toBeLessThan(20_000)
    expect(find(index, { line: 1, column: 1 })).toMatchObject({ source: 'a.ts', functionName: null })
    expect(find(index, { line: 1, column: 2 })).toMatchObject({ source: 'b.ts', functionName: 'pay' })
  })

  test('millions of members, elements and separators take little memory', () => {
    const many = (text: string, count: number): string => `${text},`.repeat(count) + text
    const members = Array.from({ length: 1_000_000 }, (_, index) => `"m${index}":0`).join(',')
    const json = `{${members},"version":3,"sources":["a.js"],"ignoreList":[${many('0', 1_000_000)}],"sourcesContent":[${many('0', 1_000_000)}],"mappings":"AAAA${';,'.repeat(2_000_000)}"}`
    const index = buildSourceMapIndex(Buffer.from(json))
    expect(find(index, { line: 1, column: 1 })).toMatchObject({ source: 'a.js', isIgnored: true })
  })

  test('unsorted segments of a long line are sorted', () => {
    const line: Row[] = Array.from({ length: 300_000 }, (_, at) => [(at * 7_919) % 300_007, 0, at, 0])
    const index = indexOf({ ...plain, mappings: encode([line]) })
    for (let at = 0; at < 300_000; at += 997) {
      expect(find(index, { line: 1, column: (line[at]?.[0] ?? 0) + 1 })?.line).toBe(at + 1)
    }
  })
})
