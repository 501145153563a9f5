import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, posix } from 'node:path'
import { AnyMap, originalPositionFor } from '@jridgewell/trace-mapping'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { demangle } from '../../server/symbols/names/demangle.ts'
import { buildSourceMapIndex } from '../../server/symbols/source-maps/build-source-map-index.ts'
import { findSource } from '../../server/symbols/source-maps/find-source.ts'
import {
  askSymbolizer,
  chainOf,
  codeAddresses,
  expectedChain,
  plainName,
  readFrames,
  type Chain,
} from '../kit/native-oracle.ts'
import { compareWithRetrace } from '../kit/retrace-oracle.ts'
import { cppProgram, demangler, retrace, rust, symbolic, symbolizer, type Ready } from './toolchains.ts'

/** Our readers of symbols beside independent ones, where those are installed, on files of real builds. */

const here = import.meta.dirname
const fixtures = join(here, '../fixtures')
const work = mkdtempSync(join(tmpdir(), 'symbol-readers-'))
afterAll(() => rmSync(work, { recursive: true }))

const [llvm, python, names, retracing, cpp, rustApp] = await Promise.all([
  symbolizer(),
  symbolic(),
  demangler(),
  retrace(),
  cppProgram(),
  rust(),
])
const commandOf = (ready: Ready): readonly string[] => ('command' in ready ? ready.command : [])

const isMissing = (...needs: readonly Ready[]): boolean => needs.some((one) => 'missing' in one)
/** With what is not installed, for the list of skipped tests. */
const titled = (title: string, ...needs: readonly Ready[]): string => {
  const [missing] = needs.flatMap((one) => ('missing' in one ? [one.missing] : []))
  return missing === undefined ? title : `${title} (${missing})`
}

// ---- Native code ---------------------------------------------------------------------------------------------------

/** LLVM 19 and `symbolic` no longer read the old form of compression. */
const OLD_FORM = 'linux-x86_64-gcc-zdebug.so'
const binaries = [
  ...readdirSync(join(fixtures, 'symbols-native'))
    .filter((name) => /\.(?:so|dsym|debug)$/.test(name) && name !== OLD_FORM)
    .map((name) => join(fixtures, 'symbols-native', name)),
  join(fixtures, 'samples/artefacts/libgame.so'),
  ...commandOf(cpp),
  ...commandOf(rustApp),
]
const ADDRESSES = 2_000

describe.skipIf(isMissing(llvm))(titled('llvm-symbolizer 19', llvm), () => {
  const [program = '', objdump = '', nm = ''] = commandOf(llvm)
  test.each(binaries.map((path) => ({ name: basename(path), path })))('$name', ({ path }) => {
    const addresses = codeAddresses(objdump, path, ADDRESSES)
    const chains = askSymbolizer(program, path, addresses)
    const frames = readFrames(path, addresses)
    const wrong = addresses.flatMap((address, at) => {
      const theirs = expectedChain(chains[at] ?? [])
      const ours = chainOf(frames[at] ?? [])
      return theirs === null || isSame(ours, theirs) ? [] : [{ address: address.toString(16), ours, theirs }]
    })
    const isAlias = wrong.length === 0 ? () => false : aliasesIn(nm, path)
    expect(wrong.filter(({ ours, theirs }) => !isAlias(ours, theirs))).toEqual([])
    expect(addresses.length).toBeGreaterThan(100)
  })
})

const isSame = (one: Chain, other: Chain): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Functions and variables of a binary, as `llvm-nm` lists them. */
const symbolsIn = (nm: string, path: string): { name: string; type: string; address: string }[] =>
  execFileSync(nm, ['--format=posix', path], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })
    .toString()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([name = '', type = '', address = '']) => ({ name, type, address }))

/** A linker keeps one of several equal functions, and the names of all for its address. Others agree. */
function aliasesIn(nm: string, path: string): (ours: Chain, theirs: Chain) => boolean {
  const addresses = new Map(symbolsIn(nm, path).map(({ name, address }) => [anyVariant(name), address]))
  const addressOf = (chain: Chain): string | undefined => addresses.get(anyVariant(chain.at(-1)?.[0] ?? ''))
  const nameless = (chain: Chain): Chain =>
    chain.map(([name, ...place], at) => [at < chain.length - 1 ? name : '', ...place])
  return (ours, theirs) =>
    isSame(nameless(ours), nameless(theirs)) && addressOf(ours) !== undefined && addressOf(ours) === addressOf(theirs)
}

const Chains = z.record(z.string(), z.array(z.array(z.tuple([z.string(), z.string(), z.number()]))))

describe.skipIf(isMissing(python, llvm))(titled('symbolic 13.9.0', python, llvm), () => {
  test('gives the same calls, files and lines', () => {
    const [, objdump = '', nm = ''] = commandOf(llvm)
    const asked = Object.fromEntries(binaries.map((path) => [path, codeAddresses(objdump, path, ADDRESSES)]))
    const [program = '', ...args] = commandOf(python)
    const output = execFileSync(program, args, { input: JSON.stringify(asked), maxBuffer: 1 << 30 })
    const answers = Chains.parse(JSON.parse(output.toString()))
    let compared = 0
    const wrong: unknown[] = []
    for (const [path, addresses] of Object.entries(asked)) {
      const frames = readFrames(path, addresses)
      const isAlias = aliasesIn(nm, path)
      for (const [at, address] of addresses.entries()) {
        const theirs = (answers[path]?.[at] ?? []).map(([name, file, line]): Chain[number] => [
          anyVariant(name),
          normal(file),
          line,
        ])
        const ours = chainOf(frames[at] ?? []).map(([name, file, line]): Chain[number] => [
          anyVariant(name),
          normal(file),
          line,
        ])
        // Where it has the name of a symbol alone, or nothing, there is less to compare.
        if (theirs.length === 0 || ours.length === 0) continue
        compared++
        const isNameAlone = theirs.length === 1 && theirs[0]?.[1] === ''
        if (isNameAlone ? ours.at(-1)?.[0] === theirs[0]?.[0] : isSame(ours, theirs) || isAlias(ours, theirs)) continue
        wrong.push({ path, address: address.toString(16), ours, theirs })
      }
    }
    expect(wrong).toEqual([])
    expect(compared).toBeGreaterThan(4_000)
  })
})

const normal = (file: string): string => (file === '' ? '' : posix.normalize(file))
/** A constructor or destructor has several symbols. */
const anyVariant = (name: string): string => plainName(name).replace(/([CD])[0-4](?=E)/g, '$1')

// ---- Names ---------------------------------------------------------------------------------------------------------

describe.skipIf(isMissing(names, llvm))(titled('symbolic-demangle 13.9.0', names, llvm), () => {
  test('writes the same names, with the types that functions return', () => {
    const [, , nm = ''] = commandOf(llvm)
    const functions = binaries.flatMap((path) => symbolsIn(nm, path).filter(({ type }) => /^[tw]$/i.test(type)))
    const asked = [...new Set(functions.map(({ name }) => name))].filter((name) => /^_{1,3}[ZR]/.test(name))
    const [program = ''] = commandOf(names)
    const theirs = execFileSync(program, { input: `${asked.join('\n')}\n`, maxBuffer: 1 << 28 })
      .toString()
      .split('\n')
    const wrong = asked
      .map((name, at) => ({ name, ours: demangle(name), theirs: theirs[at] ?? '' }))
      .filter((one) => one.ours !== one.theirs && !one.theirs.endsWith(` ${one.ours}`))
    expect(wrong).toEqual([])
    expect(asked.length).toBeGreaterThan(100)
  })
})

// ---- Mappings ------------------------------------------------------------------------------------------------------

describe.skipIf(isMissing(retracing))(titled('Retrace of R8 8.5.35', retracing), () => {
  test('gives the same frames for every line of the mappings', () => {
    const [program = '', ...args] = commandOf(retracing)
    const { status, stderr } = spawnSync(program, [...args, work], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const read = (name: string): string => readFileSync(join(work, `${name}.txt`), 'utf8')
    let traces = 0
    for (const kind of ['class', 'dex']) {
      const compared = compareWithRetrace({
        mapping: read(`mapping-${kind}`),
        traces: read(`traces-${kind}`),
        expected: read(`expected-${kind}`),
      })
      expect(compared.unexplained).toEqual([])
      traces += compared.traces
    }
    expect(traces).toBeGreaterThan(400)
  })
})

// ---- Source maps ---------------------------------------------------------------------------------------------------

const fromHere = createRequire(join(here, 'x.js'))
const POSITIONS = 100_000

const Position = z.object({
  source: z.string().nullable(),
  line: z.number().nullable(),
  column: z.number().nullable(),
  name: z.string().nullable(),
})
const Consumer = z.object({
  SourceMapConsumer: z.custom<
    new (
      map: string,
    ) => Promise<{ originalPositionFor(at: { line: number; column: number }): unknown; destroy(): void }>
  >((given) => typeof given === 'function'),
})

const BUNDLES = [
  { tool: 'vite', packageName: 'sentry-browser-11' },
  { tool: 'esbuild', packageName: '@sentry/react' },
  { tool: 'webpack', packageName: 'zod' },
]

describe('trace-mapping 0.3.31 and source-map 0.8.0', () => {
  test.each(BUNDLES)('know the same places of $packageName, built by $tool', async ({ tool, packageName }) => {
    const folder = join(work, tool)
    execFileSync(process.execPath, [join(here, 'apps/minified/build.mjs'), tool, folder], {
      stdio: 'ignore',
      env: { ...process.env, ENTRY: fromHere.resolve(packageName) },
    })
    const lines = readFileSync(join(folder, 'main.mjs'), 'utf8').split('\n')
    const map = readFileSync(join(folder, 'main.mjs.map'), 'utf8')
    const index = buildSourceMapIndex(Buffer.from(map))
    const traceMap = new AnyMap(map)
    const { SourceMapConsumer } = Consumer.parse(fromHere('source-map'))
    const consumer = await new SourceMapConsumer(map)
    const ends = lines.map(
      (
        (end) => (text) =>
          (end += text.length)
      )(0),
    )
    const total = ends.at(-1) ?? 0
    const asked = Math.min(total, Math.ceil(POSITIONS / BUNDLES.length))
    const wrong: unknown[] = []
    for (let n = 0, line = 0; n < asked; n++) {
      const at = Math.floor((n * total) / asked)
      while ((ends[line] ?? 0) <= at) line++
      const position = { line: line + 1, column: at - (ends[line - 1] ?? 0) }
      const found = findSource(index.directory, (part) => index.parts[part] ?? Buffer.alloc(0), {
        line: position.line,
        column: position.column + 1,
      })
      const ours =
        found === null
          ? { source: null, line: null, column: null, name: null }
          : { source: found.source, line: found.line, column: found.column - 1, name: found.name }
      for (const other of [originalPositionFor(traceMap, position), consumer.originalPositionFor(position)]) {
        const theirs = Position.parse(other)
        // The second one escapes spaces.
        const source = theirs.source === null ? null : decodeURI(theirs.source)
        if (JSON.stringify(ours) !== JSON.stringify({ ...theirs, source })) wrong.push({ position, ours, theirs })
      }
    }
    consumer.destroy()
    expect(wrong.slice(0, 5)).toEqual([])
    expect(asked).toBeGreaterThan(POSITIONS / BUNDLES.length - 1)
  })
})
