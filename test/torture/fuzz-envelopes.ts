import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { random } from '#bench/payloads.ts'
import type { ContentEncoding } from '#server/kernel/content-encoding.ts'
import { AppError } from '#server/kernel/errors.ts'
import { prepareEntry } from '#server/ingest/prepare-entry.ts'
import type { ProjectFacts } from '#server/ingest/project-facts.ts'
import { contentEncodingFrom, decodeBody } from '#server/protocol/decode.ts'
import { decodeStoreBody } from '#server/protocol/decode-store.ts'
import { parseEnvelope } from '#server/protocol/envelope.ts'
import { readIntakeSamples, type Sample } from '../kit/samples.ts'
import { mutate, mutateJson } from './mutate.ts'
import type { TortureArgs } from './run.ts'

const PROJECT: ProjectFacts = {
  projectId: '01890000-0000-7000-8000-000000000001',
  orgId: '01890000-0000-7000-8000-000000000002',
  defaultEnvironment: 'production',
  groupingVersion: 1,
  scrubbing: {},
}

/** T-09: longest time one body may hold the thread, milliseconds of its processor time. */
const HOLD_GOAL_MS = 200

type Tally = {
  taken: number
  refused: number
  events: number
  invalid: number
  crashes: Map<string, number>
  longestMs: number
}

/**
 * T-09 without HTTP: recordings, changed byte by byte and value by value, through the grammar of the intake and the
 * whole pure half of digestion. Claim: nothing but AppErrors from the intake, nothing at all from digestion.
 */
export async function fuzzEnvelopes({ seed, options }: TortureArgs): Promise<boolean> {
  const count = Number(options['count'] ?? (options['full'] === 'true' ? 1_000_000 : 20_000))
  const samples = readIntakeSamples()
  const events = samples.filter((sample) => sample.name.includes('event') || sample.name.includes('store'))
  const rand = random(seed)
  const tally: Tally = { taken: 0, refused: 0, events: 0, invalid: 0, crashes: new Map(), longestMs: 0 }
  const memoryBefore = memoryMiB()
  const started = performance.now()
  for (let done = 0; done < count; done++) {
    const structured = rand() < 0.5
    const from = structured ? events : samples
    const sample = from[Math.floor(rand() * from.length)]
    if (sample === undefined) throw new Error('there are no samples')
    await tryOne(sample, structured, rand, tally)
    // zlib gives memory back between turns of the event loop, which awaits of settled promises never end.
    if (done % 100 === 0) await nextTurn()
    if ((done + 1) % 50_000 === 0) print(`${(done + 1).toLocaleString('en')} of ${count.toLocaleString('en')}`)
  }
  const seconds = (performance.now() - started) / 1000
  print(
    `${count.toLocaleString('en')} bodies in ${seconds.toFixed(1)} s: ${tally.taken} taken, ${tally.refused} refused with a reason; ${tally.events} events, ${tally.invalid} items invalid`,
  )
  print(
    `longest hold of the thread: ${tally.longestMs.toFixed(1)} ms (goal ≤${HOLD_GOAL_MS} ms); memory ${memoryBefore} → ${memoryMiB()} MiB`,
  )
  for (const [crash, times] of tally.crashes) print(`CRASH ×${times}: ${crash}`)
  const holds = tally.crashes.size === 0 && tally.longestMs <= HOLD_GOAL_MS && Reflect.get({}, 'polluted') === undefined
  print(holds ? 'OK: 0 crashes' : 'the claim does not hold')
  return holds
}

async function tryOne(sample: Sample, structured: boolean, rand: () => number, tally: Tally): Promise<void> {
  const endpoint = sample.url.includes('/store/') ? 'store' : 'envelope'
  let encoding: ContentEncoding = contentEncodingFrom(
    sample.headers['content-encoding'] ?? sample.headers['Content-Encoding'],
  )
  let body = sample.body
  // Half of the mutations go into the text: changed compressed bytes rarely get past the checksum.
  if (encoding !== 'none' && rand() < 0.9) {
    body = await decodeBody(body, encoding)
    encoding = 'none'
  }
  body = structured && endpoint === 'envelope' && encoding === 'none' ? mutatePayload(body, rand) : mutate(body, rand)
  const startedMs = cpuMs()
  try {
    if (endpoint === 'store') decodeStoreBody(body, encoding)
    else parseEnvelope(await decodeBody(body, encoding))
    tally.taken++
  } catch (error) {
    if (!(error instanceof AppError)) return crashed(tally, 'intake', sample, error)
    tally.refused++
    return
  }
  try {
    const items = await prepareEntry(
      {
        projectId: PROJECT.projectId,
        projectNumber: 1,
        keyId: PROJECT.orgId,
        receivedAtMs: 1_795_132_800_000,
        endpoint,
        encoding,
        clientIp: '203.0.113.7',
        userAgent: 'fuzz',
        origin: null,
        sdkClient: null,
        eventId: null,
        dropped: [],
        body,
      },
      PROJECT,
    )
    for (const item of items) {
      if ('kind' in item) tally.events++
      else if (item.outcome === 'invalid') tally.invalid++
    }
  } catch (error) {
    crashed(tally, 'digestion', sample, error)
  }
  tally.longestMs = Math.max(tally.longestMs, cpuMs() - startedMs)
}

/** One item's payload changed as JSON, the rest as it was. */
function mutatePayload(body: Buffer, rand: () => number): Buffer {
  const { items } = parseEnvelope(body)
  const item = items[Math.floor(rand() * items.length)]
  if (item === undefined) return mutate(body, rand)
  let payload: unknown
  try {
    payload = z.record(z.string(), z.unknown()).parse(JSON.parse(body.toString('utf8', item.start, item.end)))
  } catch {
    return mutate(body, rand)
  }
  for (let edits = 1 + Math.floor(rand() * 3); edits > 0; edits--) payload = mutateJson(payload, rand)
  const header = Buffer.from(JSON.stringify({ type: item.type }))
  return Buffer.concat([
    body.subarray(0, item.headerStart),
    header,
    Buffer.from(`\n${JSON.stringify(payload)}`),
    body.subarray(item.end),
  ])
}

function crashed(tally: Tally, where: string, sample: Sample, error: unknown): void {
  const stack =
    error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' | ') : String(error)
  const name = `${where}, from ${sample.name}: ${stack}`
  tally.crashes.set(name, (tally.crashes.get(name) ?? 0) + 1)
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const memoryMiB = (): number => Math.round(process.memoryUsage().rss / 1024 / 1024)

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
