import { Agent, request as httpRequest } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { z } from 'zod'
import { random } from '#bench/payloads.ts'
import { readMetric } from '#bench/setup-project.ts'
import { compileFilters } from '#server/ingest/filters/compile-filters.ts'
import { compileGrouping } from '#server/issues/grouping/grouping.ts'
import type { ContentEncoding } from '#server/platform/kernel/inflate.ts'
import { AppError } from '#server/platform/kernel/errors.ts'
import { prepareEntry } from '#server/ingest/digest/prepare-entry.ts'
import type { ProjectFacts } from '#server/ingest/digest/project-facts.ts'
import { contentEncodingFrom, decodeBody } from '#server/events/protocol/decode.ts'
import { decodeStoreBody } from '#server/events/protocol/decode-store.ts'
import { parseEnvelope } from '#server/events/protocol/envelope.ts'
import { DEFAULT_INBOUND_FILTERS } from '#server/ingest/filters/inbound-filters.api.ts'
import { groupingSettings } from '#server/issues/grouping/grouping-settings.ts'
import { SpanNames } from '#server/telemetry/performance/measure.ts'
import { createTraceShares } from '#server/telemetry/traces/trace-share.ts'
import { readIntakeSamples, readSamples, SAMPLE_KEY, SAMPLE_PROJECT, type Sample } from '../kit/samples.ts'
import { mutate, mutateJson } from './mutate.ts'
import { createCollector } from './collect-garbage.ts'
import { startTarget, type Target, waitUntilDigested } from './target.ts'
import { atMost, claim, type Claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

const PROJECT: ProjectFacts = {
  projectId: '01890000-0000-7000-8000-000000000001',
  orgId: '01890000-0000-7000-8000-000000000002',
  defaultEnvironment: 'production',
  grouping: compileGrouping(groupingSettings({})),
  discarded: null,
  storeProfiles: true,
  storeReplays: true,
  manyUsers: 25,
  newIssueBudget: { perHour: 0, perDay: 0 },
  scrubbing: {},
  ruleOverruns: null,
  traces: createTraceShares(() => 0).of(''),
  spanNames: new SpanNames(),
  symbolicate: null,
  filters: compileFilters(DEFAULT_INBOUND_FILTERS),
  ownership: null,
  journeys: null,
  erasures: null,
}

/** T-09: longest time that one body may block the thread, in milliseconds of its processor time. */
const HOLD_GOAL_MS = 200

export type Tally = {
  taken: number
  refused: number
  events: number
  invalid: number
  crashes: Map<string, number>
  longestMs: number
}

export const freshTally = (): Tally => ({
  taken: 0,
  refused: 0,
  events: 0,
  invalid: 0,
  crashes: new Map(),
  longestMs: 0,
})

/**
 * T-09. Recordings with changed bytes and values: most of them through the grammar of the intake and the pure half of
 * digestion in this process, some over HTTP to every endpoint of the real service. Claim: the intake only gives
 * documented refusals, digestion never fails, and no memory is kept.
 */
export async function fuzzEnvelopes({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const count = Number(options['count'] ?? (full ? 2_000_000 : 30_000))
  const requests = Number(options['requests'] ?? (full ? 100_000 : 5_000))
  const tally = freshTally()
  await fuzzPurely(Math.ceil(count / 20), seed + 1, freshTally())
  const memoryBefore = keptMiB()
  const seconds = await fuzzPurely(count, seed, tally)
  const memoryAfter = keptMiB()
  print(
    `${count.toLocaleString('en')} bodies in ${seconds.toFixed(1)} s: ${tally.taken} taken, ${tally.refused} refused with a reason; ${tally.events} facts, ${tally.invalid} items invalid`,
  )
  for (const [crash, times] of tally.crashes) print(`CRASH ×${times}: ${crash}`)
  const served = await fuzzService(requests, seed)
  return {
    claims: [
      none(`crashes in ${count.toLocaleString('en')} bodies`, tally.crashes.size),
      claim(
        'no prototype touched',
        Reflect.get({}, 'polluted') === undefined ? 'none' : 'polluted',
        Reflect.get({}, 'polluted') === undefined,
      ),
      atMost('longest block of the thread', HOLD_GOAL_MS, tally.longestMs, ' ms'),
      within10Percent('memory kept', memoryBefore, memoryAfter),
      ...served,
    ],
  }
}

/** Half of the mutations keep the JSON valid, the other half change bytes. @returns seconds */
export async function fuzzPurely(count: number, seed: number, tally: Tally): Promise<number> {
  const samples = readIntakeSamples()
  const rand = random(seed)
  const started = performance.now()
  for (let done = 0; done < count; done++) {
    const sample = samples[Math.floor(rand() * samples.length)]
    if (sample === undefined) throw new Error('there are no samples')
    await tryOne(sample, done % 2 === 0, rand, tally)
    // zlib returns memory between turns of the event loop, which awaits of settled promises never end.
    if (done % 100 === 0) await nextTurn()
    if ((done + 1) % 100_000 === 0) print(`  ${(done + 1).toLocaleString('en')} of ${count.toLocaleString('en')}`)
  }
  return (performance.now() - started) / 1000
}

/** Heap and buffers that are still held after a collection. */
function keptMiB(): number {
  setFlagsFromString('--expose-gc')
  for (let times = 0; times < 3; times++) runInNewContext('gc()')
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1024 / 1024
}

/** Only growth matters: a collection may also find more garbage than there was before. */
function within10Percent(what: string, before: number, after: number): Claim {
  const most = Math.max(before * 1.1, before + 8)
  return claim(`${what} back to ±10 %`, `${Math.round(before)} → ${Math.round(after)} MiB`, after <= most)
}

/** Every recorded request of an SDK to any endpoint, mutated and sent again. */
async function fuzzService(count: number, seed: number): Promise<Claim[]> {
  if (count === 0) return []
  const collector = await createCollector()
  const { service, project, url } = await startTarget({ env: collector.env })
  try {
    const rand = random(seed + 2)
    const answers = new Map<number, number>()
    const send = async (requests: number): Promise<void> => {
      await sendMutated({ url, project }, requests, rand, answers)
      await waitUntilDigested(url)
    }
    // Compiled code and filled caches come before the first measurement.
    await send(Math.max(5_000, count / 5))
    const before = await collector.settledMiB(service.pid)
    await send(count)
    const after = await collector.settledMiB(service.pid)
    const bad = [...answers].filter(([status]) => status >= 500 || status === 0)
    print(
      `over HTTP: ${[...answers]
        .toSorted(([a], [b]) => a - b)
        .map(([status, times]) => `${status === 0 ? 'cut' : status} × ${times}`)
        .join(', ')}`,
    )
    return [
      none(
        `5xx or cut off in ${count.toLocaleString('en')} requests`,
        bad.reduce((sum, [, times]) => sum + times, 0),
      ),
      none('requests in quarantine', await readMetric(url, 'faultline_digest_quarantined_total')),
      within10Percent('memory of the service', before, after),
    ]
  } finally {
    await service.stop()
  }
}

/** Sends recordings, each with another mutation, eight at a time; counts the responses by status, 0 for none. */
export async function sendMutated(
  { url, project }: Target,
  count: number,
  rand: () => number,
  answers: Map<number, number>,
): Promise<void> {
  const samples = readSamples(new RegExp(`^/api/${SAMPLE_PROJECT}/`)).map((sample) => forProject(sample, project))
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  let left = count
  const one = async (): Promise<void> => {
    while (left-- > 0) {
      const sample = samples[Math.floor(rand() * samples.length)]
      if (sample === undefined) return
      const status = await deliver(agent, url, mutated(sample, rand))
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 8 }, one))
  agent.destroy()
}

/** The same request to a project of ours: number and key are as long as recorded, or the lengths do not matter. */
function forProject(sample: Sample, { number, publicKey }: Target['project']): Sample {
  const swap = (text: string): string =>
    text.replaceAll(`/api/${SAMPLE_PROJECT}/`, `/api/${number}/`).replaceAll(SAMPLE_KEY, publicKey)
  return {
    ...sample,
    url: swap(sample.url),
    headers: Object.fromEntries(Object.entries(sample.headers).map(([name, value]) => [name, swap(value)])),
    body: Buffer.from(sample.body.toString('latin1').replaceAll(SAMPLE_KEY, publicKey), 'latin1'),
  }
}

function mutated(sample: Sample, rand: () => number): Sample {
  const isPlain = !Object.keys(sample.headers).some((name) => name.toLowerCase() === 'content-encoding')
  const body =
    isPlain && sample.url.includes('/envelope/') && rand() < 0.5
      ? mutatePayload(sample.body, rand)
      : mutate(sample.body, rand)
  return { ...sample, body }
}

/** @returns the status; 0 when the connection broke before */
function deliver(agent: Agent, url: string, { method, url: path, headers, body }: Sample): Promise<number> {
  return new Promise((resolve) => {
    const request = httpRequest(
      `${url}${path}`,
      {
        agent,
        method,
        headers: { ...headers, ...(method === 'GET' ? {} : { 'content-length': body.length }) },
        timeout: 30_000,
      },
      (response) => {
        response.on('end', () => resolve(response.statusCode ?? 0)).resume()
        response.on('error', () => resolve(0))
      },
    )
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(0))
    request.end(method === 'GET' ? undefined : body)
  })
}

async function tryOne(sample: Sample, structured: boolean, rand: () => number, tally: Tally): Promise<void> {
  const endpoint = sample.url.includes('/store/') ? 'store' : 'envelope'
  let encoding: ContentEncoding = contentEncodingFrom(
    sample.headers['content-encoding'] ?? sample.headers['Content-Encoding'],
  )
  let body = sample.body
  // Half of the mutations change the text: changed compressed bytes rarely pass the checksum.
  if (encoding !== 'none' && rand() < 0.9) {
    body = await decodeBody(body, encoding)
    encoding = 'none'
  }
  body = structured && endpoint === 'envelope' && encoding === 'none' ? mutatePayload(body, rand) : mutate(body, rand)
  await tryBody(sample.name, body, endpoint, encoding, tally)
}

/** One body through the grammar of the intake and, when that accepts it, through digestion as far as the database. */
export async function tryBody(
  name: string,
  body: Buffer,
  endpoint: 'envelope' | 'store',
  encoding: ContentEncoding,
  tally: Tally,
): Promise<void> {
  const startedMs = cpuMs()
  try {
    if (endpoint === 'store') decodeStoreBody(body, encoding)
    else parseEnvelope(await decodeBody(body, encoding))
    tally.taken++
  } catch (error) {
    if (!(error instanceof AppError)) return crashed(tally, 'intake', name, error)
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
    crashed(tally, 'digestion', name, error)
  }
  tally.longestMs = Math.max(tally.longestMs, cpuMs() - startedMs)
}

/** Changes one item's payload as JSON. */
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

function crashed(tally: Tally, where: string, from: string, error: unknown): void {
  const stack =
    error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' | ') : String(error)
  const name = `${where}, from ${from}: ${stack}`
  tally.crashes.set(name, (tally.crashes.get(name) ?? 0) + 1)
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
