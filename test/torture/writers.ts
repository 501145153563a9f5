import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { z } from 'zod'
import { Histogram } from '#bench/load.ts'
import { type BenchEvent, EventHead, makeEvents, random } from '#bench/payloads.ts'
import type { BenchProject } from '#bench/setup-project.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { claim, type Claim, none, print } from './torture.ts'

/** Clients that send without end, note every acknowledged id in a file, and send again what was cut off. */
export type Writers = {
  /** Where to send; null while the service is down. */
  url: string | null
  stopped: boolean
  readonly done: Promise<unknown>
  accepted: number
  /** Requests sent, with or without an answer, by content. */
  readonly sent: Record<Kind, number>
  resent: number
  /** By status; 0 counts cut connections. */
  readonly answers: Map<number, number>
  /** When the service was asked to stop, by performance.now(): a later connection may be refused. */
  stoppingAtMs: number
  /** Requests sent before that whose connection broke; without those that found no server, or one that was stopping. */
  cutMidway: number
  /** 503 and 429 without Retry-After. */
  rude: number
  /** The longest wait for an answer or the end of the connection, milliseconds. */
  slowestMs: number
  /** From sending a request to its 200; may be replaced. */
  latency: Histogram
}

/** An error with a session and logs, or a transaction: an envelope makes one event. */
type Kind = 'error' | 'transaction'
const LOGS = 3
/** One request in so many is a transaction. */
const TRANSACTION_EVERY = 4
const PATIENCE_MS = 40_000

/** @param projects each client sends to one of them */
export function startWriters(
  projects: BenchProject | readonly BenchProject[],
  options: {
    count: number
    seed: number
    sideFile: string
    url: string | null
    sizeBytes?: number
    pauseMs?: number
    /** Makes each request so much larger on the spool, and costs no digestion. */
    padBytes?: number
  },
): Writers {
  const events = makeEvents({
    sizeBytes: options.sizeBytes ?? 3_000,
    issues: 50,
    variantsPerIssue: 2,
    seed: options.seed,
  })
  const writers: Writers = {
    url: options.url,
    stopped: false,
    done: Promise.resolve(),
    accepted: 0,
    sent: { error: 0, transaction: 0 },
    resent: 0,
    answers: new Map(),
    stoppingAtMs: Number.POSITIVE_INFINITY,
    cutMidway: 0,
    rude: 0,
    slowestMs: 0,
    latency: new Histogram(),
  }
  const targets = [projects].flat()
  const all = Array.from({ length: options.count }, (_, index) => {
    const project = targets[index % targets.length]
    if (project === undefined) throw new Error('no project')
    return write(writers, project, events, options, random(options.seed * 1000 + index))
  })
  return Object.assign(writers, { done: Promise.all(all) })
}

async function write(
  writers: Writers,
  project: BenchProject,
  events: readonly BenchEvent[],
  { sideFile, pauseMs = 0, padBytes = 0 }: { sideFile: string; pauseMs?: number; padBytes?: number },
  rand: () => number,
): Promise<void> {
  let agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const pad = padBytes === 0 ? Buffer.alloc(0) : emptyMember(padBytes)
  let cutOff: Request | null = null
  while (!writers.stopped) {
    const { url } = writers
    const event = events[Math.floor(rand() * events.length)]
    if (url === null || event === undefined) {
      await delay(10)
      continue
    }
    if (cutOff !== null) writers.resent++
    const next: Request =
      cutOff ?? newRequest(event, Math.floor(rand() * TRANSACTION_EVERY) === 0 ? 'transaction' : 'error')
    writers.sent[next.kind]++
    const startedMs = performance.now()
    const { status, retryAfter, midway } = await post(agent, url, project, Buffer.concat([next.body, pad]))
    const tookMs = performance.now() - startedMs
    writers.slowestMs = Math.max(writers.slowestMs, tookMs)
    writers.answers.set(status, (writers.answers.get(status) ?? 0) + 1)
    if (status === 200) {
      // Before anything else happens: this line is what the claim is checked against.
      appendFileSync(sideFile, `${next.kind} ${next.id}\n`)
      writers.accepted++
      writers.latency.add(tookMs)
      cutOff = null
      if (pauseMs > 0) await delay(rand() * 2 * pauseMs)
    } else {
      if ((status === 503 || status === 429) && retryAfter === undefined) writers.rude++
      if (midway === true && startedMs < writers.stoppingAtMs) writers.cutMidway++
      cutOff = next
      agent.destroy()
      agent = new Agent({ keepAlive: true, maxSockets: 1 })
      await delay(20)
    }
  }
  agent.destroy()
}

/** A member of a gzip stream that holds nothing and has an extra field of random bytes, at most 65,535, in its head. */
function emptyMember(extraBytes: number): Buffer {
  const member = gzipSync('')
  const length = Buffer.alloc(2)
  length.writeUInt16LE(extraBytes)
  member[3] = 4
  return Buffer.concat([member.subarray(0, 10), length, randomBytes(extraBytes), member.subarray(10)])
}

type Request = { readonly id: string; readonly kind: Kind; readonly body: Buffer }

function newRequest(event: BenchEvent, kind: Kind): Request {
  const id = randomBytes(16).toString('hex')
  const now = Date.now() / 1000
  if (kind === 'transaction') {
    const traceId = randomBytes(16).toString('hex')
    const payload = {
      type: 'transaction',
      event_id: id,
      transaction: 'GET /torture',
      start_timestamp: now - 0.1,
      timestamp: now,
      contexts: { trace: { trace_id: traceId, span_id: id.slice(0, 16), op: 'http.server' } },
      spans: [0.02, 0.06].map((at, index) => ({
        span_id: randomBytes(8).toString('hex'),
        parent_span_id: id.slice(0, 16),
        trace_id: traceId,
        op: 'db.query',
        description: `select ${index}`,
        start_timestamp: now - 0.1 + at,
        timestamp: now - 0.08 + at,
      })),
    }
    const header = JSON.stringify({ event_id: id, sent_at: new Date().toISOString() })
    return { id, kind, body: gzipSync(`${header}\n{"type":"transaction"}\n${JSON.stringify(payload)}\n`, { level: 1 }) }
  }
  const session = {
    sid: randomUUID(),
    did: id.slice(0, 8),
    init: true,
    started: new Date().toISOString(),
    status: 'ok',
    errors: 0,
    attrs: { release: 'torture@1.0.0' },
  }
  const logs = Array.from({ length: LOGS }, (_, i) => ({
    timestamp: now,
    level: 'info',
    body: `${id} ${i}`,
    trace_id: id,
  }))
  const beside = [
    '{"type":"session"}',
    JSON.stringify(session),
    JSON.stringify({ type: 'log', item_count: LOGS, content_type: 'application/vnd.sentry.items.log+json' }),
    JSON.stringify({ items: logs }),
    '',
  ]
  const start = new EventHead('gzip', randomInt(2 ** 31))
  start.next(id)
  return {
    id,
    kind,
    body: Buffer.concat([start.bytes, event.rest, gzipSync(beside.join('\n'), { level: 1 })]),
  }
}

/** @returns the status, 0 when the connection broke before an answer */
function post(
  agent: Agent,
  url: string,
  { number, publicKey }: BenchProject,
  body: Buffer,
): Promise<{ status: number; retryAfter?: string | undefined; midway?: boolean }> {
  return new Promise((resolve) => {
    const request = httpRequest(
      `${url}/api/${number}/envelope/?sentry_key=${publicKey}&sentry_version=7`,
      {
        method: 'POST',
        agent,
        headers: { 'content-encoding': 'gzip', 'content-length': body.length },
        timeout: PATIENCE_MS,
      },
      (response) => {
        const { statusCode = 0, headers } = response
        response.resume()
        // Only a complete answer counts: a client that saw half of one knows nothing.
        response.on('end', () =>
          resolve({ status: response.complete ? statusCode : 0, retryAfter: headers['retry-after'] }),
        )
        response.on('error', () => resolve({ status: 0, midway: true }))
      },
    )
    request.on('timeout', () => request.destroy())
    request.on('error', (error) => {
      const { code } = z.object({ code: z.string().optional() }).parse(error)
      // A kept connection may be closed just as the next request is sent; clients that reuse one must expect it.
      resolve({ status: 0, midway: code !== 'ECONNREFUSED' && !request.reusedSocket })
    })
    request.end(body)
  })
}

/** Events in the database, compared with the acknowledged ones. */
export type Found = {
  acknowledged: Record<Kind, number>
  stored: number
  lost: number
  doubled: number
  onSpool: number
  quarantined: number
  counted: number
  /** Items of each category with any outcome, and those with an outcome that none of our items may have. */
  outcomes: ReadonlyMap<string, number>
  strange: number
  /** Tables with a page whose checksum or structure is wrong. */
  unreadable: number
}

/** Reads the embedded database itself, not through the service, which must be stopped. */
export async function examine(dataDir: string, sideFile: string): Promise<Found> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} })
  try {
    return await examineDatabase(postgres.connectionString, sideFile)
  } finally {
    await postgres.stop()
  }
}

/** Dropped: refused by the intake while the database or the disk could not store it. */
const EXPECTED = new Set(['accepted', 'duplicate', 'dropped', 'rate_limited'])

/** @param otherProjectId of a project to which the writers send nothing, and whose outcomes do not count */
export async function examineDatabase(
  connectionString: string,
  sideFile: string,
  otherProjectId: string | null = null,
): Promise<Found> {
  const lines = readFileSync(sideFile, 'utf8').split('\n')
  const idsOf = (kind: Kind): string[] =>
    lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1))
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: string; times: number }>(
      `select replace(event_id::text, '-', '') as id, count(*)::int as times from events group by 1`,
    )
    const times = new Map(rows.map((row) => [row.id, row.times]))
    const number = async (query: string): Promise<number> =>
      Number((await client.query<{ n: string }>(query)).rows[0]?.n ?? 0)
    const outcomes = await client.query<{ category: string; outcome: string; reason: string; n: string }>(
      `select category, outcome, reason, sum(quantity)::text as n from outcomes_hourly
       where project_id is distinct from $1::uuid group by 1, 2, 3`,
      [otherProjectId],
    )
    const sums = new Map<string, number>()
    let strange = 0
    for (const { category, outcome, reason, n } of outcomes.rows) {
      sums.set(category, (sums.get(category) ?? 0) + Number(n))
      if (EXPECTED.has(outcome)) continue
      strange += Number(n)
      print(`  ${category} ${outcome} ${reason} ${n}`)
    }
    const tables = await client.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c where relkind in ('r', 'm') and relnamespace = 'public'::regnamespace`,
    )
    let unreadable = 0
    for (const { name } of tables.rows) {
      // Whole rows, so that every page is read and its checksum compared.
      await client.query(`select sum(length(t::text)) from ${name} t`).catch(() => unreadable++)
    }
    const errors = idsOf('error')
    return {
      acknowledged: { error: errors.length, transaction: idsOf('transaction').length },
      stored: rows.reduce((sum, row) => sum + row.times, 0),
      lost: errors.filter((id) => !times.has(id)).length,
      doubled: rows.filter((row) => row.times > 1).length,
      onSpool: await number('select coalesce(sum(entry_count), 0) as n from spool'),
      quarantined: await number('select count(*) as n from spool_quarantine'),
      counted: await number('select coalesce(sum(event_count), 0) as n from issue_groups'),
      outcomes: sums,
      strange,
      unreadable,
    }
  } finally {
    await client.end()
  }
}

/** The final claims of every torture of the event pipeline. */
export function claimsOf(writers: Writers, found: Found): Claim[] {
  const sent = writers.sent.error + writers.sent.transaction
  const answers = [...writers.answers].map(([status, count]) => `${status === 0 ? 'cut' : status} × ${count}`)
  print(`sent ${sent} (${writers.resent} of them again), answers: ${answers.join(', ')}`)
  const of = (category: string): number => found.outcomes.get(category) ?? 0
  print(
    `outcomes: ${[...found.outcomes].map(([category, n]) => `${category} ${n}`).join(', ')}; stored ${found.stored} events`,
  )
  // A request that was cut off may or may not have been accepted; an accepted one has an outcome for each item.
  const within = (kind: Kind): boolean => of(kind) >= found.acknowledged[kind] && of(kind) <= writers.sent[kind]
  const isWhole = of('session') === of('error') && of('log_item') === LOGS * of('error')
  const acknowledged = found.acknowledged.error + found.acknowledged.transaction
  return [
    claim('something acknowledged', acknowledged, acknowledged > 0),
    none('acknowledged events lost', found.lost),
    none('events stored twice', found.doubled),
    none('entries left on the spool or in quarantine', found.onSpool + found.quarantined),
    claim('issues count what is stored', `${found.counted} of ${found.stored}`, found.counted === found.stored),
    claim(
      'items in = sum of outcomes',
      `${of('error')} errors, ${of('session')} sessions, ${of('log_item')} logs, ${of('transaction')} transactions; ${found.acknowledged.error} + ${found.acknowledged.transaction} acknowledged`,
      isWhole && within('error') && within('transaction') && found.strange === 0,
    ),
    none('refusals without Retry-After', writers.rude),
  ]
}

/** Writers as one. */
export function sumOfWriters(all: readonly Writers[]): Writers {
  const [first] = all
  if (first === undefined) throw new Error('no writers')
  const answers = new Map<number, number>()
  for (const { answers: own } of all) for (const [status, n] of own) answers.set(status, (answers.get(status) ?? 0) + n)
  const sum = (of: (writers: Writers) => number): number => all.reduce((total, writers) => total + of(writers), 0)
  return {
    ...first,
    answers,
    accepted: sum(({ accepted }) => accepted),
    resent: sum(({ resent }) => resent),
    rude: sum(({ rude }) => rude),
    sent: { error: sum(({ sent }) => sent.error), transaction: sum(({ sent }) => sent.transaction) },
  }
}
