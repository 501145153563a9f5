import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { random } from '#bench/payloads.ts'
import type { SymbolKind } from '#server/symbols/files/symbol-kinds.api.ts'
import { Indexer, IndexerEndedError } from '#server/symbols/indexing/indexer.ts'
import { mutate } from './mutate.ts'
import { atLeast, atMost, none, print, type TortureArgs, type Verdict } from './torture.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures')
const LIMITS = { heapMb: 128, memoryMb: 256 }
const MAX_CPU_SECONDS = 2
const DEFAULT_MS = 50_000
const MAX_SHOWN = 10

type Sample = { readonly name: string; readonly kind: SymbolKind; readonly body: Buffer }

/**
 * T-12. Claim: whatever is wrong with a symbol file, its index is built or refused with a sentence, in bounded time and
 * memory. Files are read as the service does it: by the process that builds indexes, with smaller limits.
 */
export async function brokenSymbols({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const count = Number(options['count'] ?? 100_000)
  const samples = readSamples()
  const rand = random(seed)
  const folder = mkdtempSync(join(tmpdir(), 'faultline-symbols-'))
  const path = join(folder, 'file')
  const indexer = new Indexer(LIMITS)
  const { signal } = new AbortController()
  const seen = { tried: 0, built: 0, refused: 0, limits: 0, faults: 0, slowestMs: 0 }
  const show = (what: string, sample: Sample, reason: string): void => {
    if (seen.limits + seen.faults <= MAX_SHOWN)
      print(`  ${what}, file ${seen.tried} of ${sample.name}: ${reason.slice(0, 300)}`)
  }
  try {
    const until = full ? Number.POSITIVE_INFINITY : performance.now() + DEFAULT_MS
    while (seen.tried < count && (seen.tried < 1_000 || performance.now() < until)) {
      const sample = samples[Math.floor(rand() * samples.length)]
      if (sample === undefined) throw new Error('there are no samples')
      writeFileSync(path, isText(sample.kind) ? mutate(sample.body, rand) : mutateBytes(sample.body, rand))
      seen.tried++
      const startedMs = performance.now()
      try {
        const reply = await indexer.build({ path, kind: sample.kind, object: 0, cpuSeconds: MAX_CPU_SECONDS }, signal)
        if ('packed' in reply) seen.built++
        else if ('fault' in reply) {
          seen.faults++
          show('an error of the reader', sample, reply.fault)
        } else if (reply.isLast === true) {
          seen.limits++
          show('over a limit', sample, reply.problem)
        } else seen.refused++
        if ('packed' in reply) rmSync(reply.packed.path, { force: true })
      } catch (error) {
        if (!(error instanceof IndexerEndedError)) throw error
        seen.faults++
        show('the process ended', sample, error.message)
      }
      seen.slowestMs = Math.max(seen.slowestMs, performance.now() - startedMs)
      if (seen.tried % 10_000 === 0) print(`  ${seen.tried} of ${count} files`)
    }
  } finally {
    indexer.close()
    rmSync(folder, { recursive: true, force: true })
  }
  print(`  ${seen.tried} files: ${seen.built} indexed, ${seen.refused} refused`)
  return {
    claims: [
      none('errors of readers, and ends of the process', seen.faults),
      none(`files that need more than ${LIMITS.memoryMb} MiB or ${MAX_CPU_SECONDS} s`, seen.limits),
      atMost('slowest file', MAX_CPU_SECONDS * 1_000, seen.slowestMs, ' ms'),
      atLeast('files tried', 1_000, seen.tried),
      atLeast('of them indexed', 100, seen.built),
      atLeast('of them refused', 100, seen.refused),
    ],
  }
}

const isText = (kind: SymbolKind): boolean => kind !== 'macho' && kind !== 'elf'

function readSamples(): Sample[] {
  const read = (name: string, kind: SymbolKind): Sample => ({ name, kind, body: readFileSync(join(FIXTURES, name)) })
  const native = readdirSync(join(FIXTURES, 'symbols-native'))
    .filter((name) => /\.(?:so|debug|dsym)$/.test(name))
    .map((name) => read(`symbols-native/${name}`, name.endsWith('.dsym') ? 'macho' : 'elf'))
  return [
    ...native,
    read('samples/artefacts/app.min.js.map', 'js_source_map'),
    read('samples/artefacts/proguard-mapping.txt', 'proguard'),
    read('proguard/mapping-dex.txt', 'proguard'),
    read('samples/artefacts/dart-symbolmap.json', 'dart_symbol_map'),
    { name: 'a Breakpad file', kind: 'breakpad', body: Buffer.from(BREAKPAD) },
  ]
}

const BREAKPAD = `MODULE Linux x86_64 0102030405060708090A0B0C0D0E0F100 app
FILE 0 src/main.cc
INLINE_ORIGIN 0 inner
FUNC 1000 40 0 main
INLINE 0 7 0 0 1010 8
1000 10 5 0
1010 30 7 0
PUBLIC 2000 0 after
STACK CFI INIT 1000 40 .cfa: $rsp 8 +
`

/** Values of sizes, counts and offsets that readers trip over. */
const EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff]

/** A copy with bytes, numbers of 4 bytes or whole parts changed, doubled or cut. */
function mutateBytes(body: Buffer, rand: () => number): Buffer {
  let mutated = Buffer.from(body)
  // Headers and tables at the beginning and end lead to everything else.
  const place = (): number => {
    const share = rand() < 0.5 ? rand() * rand() : 1 - rand() * rand()
    return Math.min(mutated.length - 1, Math.floor(share * mutated.length))
  }
  for (let edits = 1 + Math.floor(rand() * 6); edits > 0 && mutated.length > 8; edits--) {
    const at = place()
    const kind = rand()
    if (kind < 0.4) mutated[at] = Math.floor(rand() * 256)
    else if (kind < 0.8) {
      const value = EXTREMES[Math.floor(rand() * EXTREMES.length)] ?? 0
      mutated.writeUInt32LE(value, Math.min(at, mutated.length - 4))
    } else if (kind < 0.88) mutated = mutated.subarray(0, at)
    else if (kind < 0.94) mutated.copy(mutated, at, Math.floor(rand() * at), at)
    else mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(Math.floor(rand() * at))])
  }
  return mutated
}
