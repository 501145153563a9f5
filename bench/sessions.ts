import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { BenchArgs, BenchResult } from './bench.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { random } from './payloads.ts'
import { processorTimeOfTree } from './processor-time.ts'
import { startService } from './service.ts'
import { type BenchProject, setUpProject } from './setup-project.ts'

export const summary =
  'sessions per second from accepted to readable: in aggregates, and as single updates (--seconds=20, --items=1: updates per request)'

const CONNECTIONS = 128
/** Sessions in one item of a server SDK: ten minutes with twenty each. */
const MINUTES = 10
const PER_MINUTE = 20
const RELEASES = 10
const USERS = 20_000
const BASE_MS = Math.floor(Date.now() / 1000) * 1000

export async function run({ options }: BenchArgs): Promise<BenchResult> {
  const seconds = Number(options['seconds'] ?? 20)
  const items = Number(options['items'] ?? 1)
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' } })
  try {
    const project = await setUpProject(service.url)
    const measure = async (makeBody: (n: number) => string, perRequest: number, sessionsPer: number) => {
      const before = await readTotal(service.url, project)
      const processor = processorTimeOfTree(service.pid)
      const started = performance.now()
      const sent = await sendFor(service.url, project, seconds * 1000, makeBody)
      const wanted = before + Math.round(sent * sessionsPer)
      while ((await readTotal(service.url, project)) < wanted) await delay(100)
      const elapsedMs = performance.now() - started
      const used = processorTimeOfTree(service.pid)
      const usedMs =
        Object.values(used).reduce((a, b) => a + b, 0) - Object.values(processor).reduce((a, b) => a + b, 0)
      return {
        perSecond: (sent * perRequest) / (elapsedMs / 1000),
        microseconds: (usedMs * 1000) / (sent * perRequest),
      }
    }
    const aggregates = await measure(aggregatesBody, MINUTES * PER_MINUTE, MINUTES * PER_MINUTE)
    // Every second update ends the session that the one before began.
    const updates = await measure((n) => updatesBody(n, items), items, items / 2)
    return {
      figures: {
        'sessions in aggregates': { value: aggregates.perSecond, unit: 'sessions/s', goal: '≥20,000/s' },
        'their processor time, service and database': { value: aggregates.microseconds, unit: 'µs/session' },
        'single updates': { value: updates.perSecond, unit: 'updates/s', goal: '≥5,000/s' },
        'processor time of an update': { value: updates.microseconds, unit: 'µs/update' },
      },
      payload: `aggregates of ${MINUTES} minutes with ${PER_MINUTE} sessions each; updates of ${USERS} users, ${RELEASES} releases, ${items} per request, two per session`,
      durability: 'fsync and synchronous_commit on',
      postgres: embeddedPostgresVersion(),
      notes: [
        `${seconds} s of load, then until all are readable by GET /api/sessions/summary`,
        'load generator, service and database on the same machine',
      ],
    }
  } finally {
    await service.stop()
  }
}

const attributes = (rand: () => number): string =>
  `{"release":"shop@2.${Math.floor(RELEASES * rand() ** 2)}.0","environment":"${rand() < 0.9 ? 'production' : 'staging'}"}`

function aggregatesBody(n: number): string {
  const rand = random(n)
  const now = Math.floor(Date.now() / 60_000) * 60_000
  const entries = Array.from({ length: MINUTES }, (_, minute) => {
    const crashed = rand() < 0.1 ? 1 : 0
    const started = new Date(now - minute * 60_000).toISOString()
    return `{"started":"${started}","exited":${PER_MINUTE - crashed},"crashed":${crashed}}`
  })
  return `{}\n{"type":"sessions"}\n{"aggregates":[${entries.join()}],"attrs":${attributes(rand)}}\n`
}

function updatesBody(n: number, items: number): string {
  let body = '{}\n'
  for (let item = 0; item < items; item++) {
    const update = n * items + item
    const session = Math.floor(update / 2)
    const rand = random(session)
    const sid = `${'b'.repeat(24)}${session.toString(16).padStart(8, '0')}`.slice(-32)
    const state =
      update % 2 === 0
        ? '"init":true,"status":"ok"'
        : `"status":"${rand() < 0.02 ? 'crashed' : 'exited'}","duration":${Math.floor(rand() * 600)}`
    // The same in all updates of a session.
    const started = new Date(BASE_MS - (session % 600) * 1000).toISOString()
    body += `{"type":"session"}\n{"sid":"${sid}","did":"u${Math.floor(rand() * USERS)}",${state},"started":"${started}","attrs":${attributes(rand)}}\n`
  }
  return body
}

/**
 * Sends requests one after the other on each of several bare sockets, which leaves the processor to the service.
 * @returns number of accepted requests, an even one
 */
async function sendFor(
  url: string,
  { number, publicKey }: BenchProject,
  durationMs: number,
  makeBody: (n: number) => string,
): Promise<number> {
  const { hostname, port } = new URL(url)
  const head = `POST /api/${number}/envelope/?sentry_key=${publicKey} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: `
  const end = performance.now() + durationMs
  let next = 0
  const send = async (): Promise<void> => {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    while (performance.now() < end) {
      const pair = next
      next += 2
      for (const n of [pair, pair + 1]) {
        const body = makeBody(n)
        socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`)
        // The answer fits one packet.
        const [answer] = (await once(socket, 'data')) as [Buffer]
        if (answer.toString('latin1', 9, 12) !== '200') throw new Error(answer.toString('latin1', 0, 100))
      }
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, send))
  return next
}

const Total = z.object({ total: z.number() })

async function readTotal(url: string, { cookie, projectId }: BenchProject): Promise<number> {
  const answer = await fetch(`${url}/api/sessions/summary?projectId=${projectId}&range=24h`, { headers: { cookie } })
  return Total.parse(await answer.json()).total
}
