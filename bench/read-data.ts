import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { createApp } from '#server/service/app.ts'
import { openDatabase } from '#server/service/cli/database.ts'
import { readConfig } from '#server/config/config.ts'
import { foldHealth } from '#server/telemetry/app-health/fold-health.ts'
import { compactPerformance } from '#server/telemetry/performance/compact-performance.ts'
import { waitUntilDrained } from './feed.ts'
import { target } from './intake.ts'
import { runLoad } from './load.ts'
import { makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { seed, seedLogs } from './read-seed.ts'
import { startService } from './service.ts'
import { setUpProject } from './setup-project.ts'

/** Data directories with very many events, created once and kept. */

const CACHE = join(import.meta.dirname, '.cache')
const ISSUES = 100_000
const DAYS = 30
/** Measured size of an event row, and of a log entry, with their share of indexes, twice: as much again is written. */
const BYTES_PER_EVENT = (700 + 600) * 2
const BYTES_BESIDE = 3 * 2 ** 30

const Seeded = z.object({ projectId: z.string(), number: z.number(), publicKey: z.string(), digested: z.number() })
export type Seeded = z.infer<typeof Seeded> & { readonly dataDir: string }

/** The number of events that fit on the disk, at most `asked`; in millions when fewer. */
export function affordable(events: number): number {
  mkdirSync(CACHE, { recursive: true })
  if (existsSync(markOf(events))) return events
  const disk = statfsSync(CACHE)
  const room = Math.floor((disk.bavail * disk.bsize - BYTES_BESIDE) / BYTES_PER_EVENT)
  return room >= events ? events : Math.max(0, Math.floor(room / 1_000_000) * 1_000_000)
}

const dirOf = (events: number, logs: number): string =>
  join(CACHE, logs === events ? `read-${events}` : `read-${events}-logs-${logs}`)
const markOf = (events: number, logs = events): string => join(dirOf(events, logs), 'seeded.json')

/** Returns the directory with so many events, and by default as many log entries; creates it when it is missing. */
export async function seededData(
  events: number,
  digested: number,
  progress: (line: string) => void,
  logs = events,
): Promise<Seeded> {
  const dataDir = dirOf(events, logs)
  const mark = markOf(events, logs)
  if (existsSync(mark)) return { ...Seeded.parse(JSON.parse(readFileSync(mark, 'utf8'))), dataDir }
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true })
  chmodSync(dataDir, 0o755)
  progress(`${digested.toLocaleString('en')} events through digestion`)
  const project = await digestEvents(dataDir, digested)
  await copyEvents(dataDir, events, progress)
  await withDatabase(dataDir, (_app, connectionString) =>
    seedLogs(connectionString, { projectId: project.projectId, entries: logs, days: DAYS }, progress),
  )
  const seeded = { projectId: project.projectId, number: project.number, publicKey: project.publicKey, digested }
  writeFileSync(mark, JSON.stringify(seeded))
  return { ...seeded, dataDir }
}

async function digestEvents(dataDir: string, count: number) {
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' }, dataDir })
  try {
    const project = await setUpProject(service.url)
    await runLoad({
      ...target(service.url, project),
      events: makeEvents({ ...STANDARD_SHAPE, sizeBytes: 3_000 }),
      connections: 32,
      ratePerSecond: 1_500,
      durationMs: (count / 1_500) * 1000 + 120_000,
      maxRequests: count,
    })
    await sendTelemetry(service.url, project)
    await waitUntilDrained(service)
    return project
  } finally {
    await service.stop()
  }
}

/** Sends sessions of five days and transactions of seven, one envelope per half hour. */
async function sendTelemetry(url: string, project: { number: number; publicKey: string }): Promise<void> {
  const HALF_HOUR_MS = 1_800_000
  const now = Date.now()
  for (let slot = 1; slot < 7 * 48; slot++) {
    const at = now - slot * HALF_HOUR_MS
    const items: string[] = []
    const transactions = ['checkout', 'search', 'login'].map((transaction, i) => ({
      type: 'transaction',
      event_id: `${slot.toString(16).padStart(8, '0')}${String(i).padStart(24, '0')}`,
      transaction,
      start_timestamp: at / 1000 - 0.1 * (1 + (slot % 7)),
      timestamp: at / 1000,
      release: `shop@2.${slot % 12}.0`,
      contexts: {
        trace: {
          trace_id: slot.toString(16).padStart(32, '1'),
          span_id: (slot * 3 + i).toString(16).padStart(16, '1'),
          op: 'http.server',
          status: 'ok',
        },
      },
    }))
    for (const one of transactions) items.push(`{"type":"transaction"}\n${JSON.stringify(one)}\n`)
    if (slot < 5 * 48 - 2) {
      const started = new Date(at).toISOString()
      const aggregates = [{ started, exited: 900 + (slot % 50), errored: 20, crashed: 3 }]
      items.push(
        `{"type":"sessions"}\n${JSON.stringify({ aggregates, attrs: { release: `shop@2.${slot % 12}.0` } })}\n`,
      )
    }
    for (const item of items) {
      const answer = await fetch(`${url}/api/${project.number}/envelope/?sentry_key=${project.publicKey}`, {
        method: 'POST',
        body: `{}\n${item}`,
      })
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`the intake answered telemetry with ${answer.status}`)
    }
  }
}

async function copyEvents(dataDir: string, events: number, progress: (line: string) => void): Promise<void> {
  await withDatabase(dataDir, async (app, connectionString) => {
    await compactPerformance(app)
    await foldHealth(app)
    // By the longest bucket, so that every bucket stays one.
    for (const table of ['health_rollups', 'health_sketches'])
      await app.db.query(
        `insert into ${table} select (r.shifted).* from (
           select jsonb_populate_record(s, jsonb_build_object('bucket', s.bucket - k * interval '4 days')) as shifted
           from ${table} s, generate_series(1, 7) k) r on conflict do nothing`,
      )
    await seed(app.db, connectionString, { issues: ISSUES, events, days: DAYS }, progress)
  })
}

/** Works on the database of a directory whose service is stopped. */
export async function withDatabase<T>(
  dataDir: string,
  work: (app: Awaited<ReturnType<typeof createApp>>, connectionString: string) => Promise<T>,
): Promise<T> {
  const config = readConfig({ ...process.env, FAULTLINE_DATA_DIR: dataDir, LOG_LEVEL: 'warn' })
  const database = await openDatabase(config, () => {})
  try {
    const app = await createApp(config, database.connectionString, 4, 'bench')
    try {
      return await work(app, database.connectionString)
    } finally {
      await app.close()
    }
  } finally {
    await database.stop()
  }
}
