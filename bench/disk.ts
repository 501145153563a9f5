import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '#server/service/app.ts'
import { openDatabase } from '#server/service/cli/database.ts'
import type { App } from '#server/platform/context/app.ts'
import { readConfig } from '#server/config/config.ts'
import { packColdEvents } from '#server/events/store/pack-task.ts'
import { readBacklog } from '#server/ingest/spool/project-backlog.ts'
import type { BenchArgs, BenchResult, Figure } from './bench.ts'
import { waitUntilDrained } from './feed.ts'
import { describe, target } from './intake.ts'
import { runLoad } from './load.ts'
import { makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { PARTS, processorTimeOfTree } from './processor-time.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { startService } from './service.ts'
import { readMetric, setUpProject } from './setup-project.ts'

export const summary =
  'P10: disk per stored 20 kB event, everything included, on the newest day and once its day is over (--events=40000, --size=20000, --issues=200, --rate=1500: events per second)'

const DAY_MS = 86_400_000
/**
 * Half of what can be digested. The backlog stays small, because the spool is as large as its largest backlog; and
 * digestion, which keeps up, stores bodies in blocks.
 */
const RATE = 1_500

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const count = Number(options['events'] ?? (long ? 200_000 : 40_000))
  const sizeBytes = Number(options['size'] ?? STANDARD_SHAPE.sizeBytes)
  const issues = Number(options['issues'] ?? STANDARD_SHAPE.issues)
  const ratePerSecond = Number(options['rate'] ?? RATE)
  // Every event differs in times, ids, users, numbers and breadcrumbs, as events of one issue do.
  const events = makeEvents({ ...STANDARD_SHAPE, sizeBytes, issues, variantsPerIssue: Math.ceil(count / issues) })
  const payload = describe(events)
  const scratch = mkdtempSync(join(tmpdir(), 'faultline-disk-'))
  chmodSync(scratch, 0o755)
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' }, dataDir: join(scratch, 'data') })
  try {
    const project = await setUpProject(service.url)
    await waitUntilDrained(service)
    const empty = diskOf(service.dataDir)
    const before = processorMs(service.pid)
    await runLoad({
      ...target(service.url, project),
      events,
      connections: 32,
      ratePerSecond,
      durationMs: (count / ratePerSecond) * 1000 + 60_000,
      maxRequests: count,
    })
    await waitUntilDrained(service)
    const recordingMs = processorMs(service.pid) - before
    const stored = await readMetric(service.url, 'faultline_digest_events_total')
    const batches = await readMetric(service.url, 'faultline_digest_batches_total')
    await service.stop()
    const fresh = diskOf(service.dataDir)
    const newest = await onDatabase(service.dataDir, rowsAndBlocks)
    const packing = await onDatabase(service.dataDir, pack)
    const packed = diskOf(service.dataDir)
    const perEvent = (bytes: number): Figure => ({ value: bytes / stored, unit: 'bytes' })
    const goal = sizeBytes === STANDARD_SHAPE.sizeBytes ? { goal: '≤2,500 bytes, stretch ≤1,000 (P10)' } : {}
    return {
      figures: {
        'stored events': { value: stored, unit: 'events' },
        'events per batch of digestion': { value: stored / batches, unit: 'events' },
        'per event, newest day': perEvent(fresh.tables - empty.tables),
        ...parts(newest, fresh.tables - empty.tables, perEvent),
        'per event, packed': { ...perEvent(packed.tables - empty.tables), ...goal },
        ...parts(packing, packed.tables - empty.tables, perEvent, ' packed'),
        'write-ahead log, newest day': { value: fresh.log / 2 ** 20, unit: 'MiB' },
        'write-ahead log, packed': { value: packed.log / 2 ** 20, unit: 'MiB' },
        'recording, processor time of service and database': {
          value: (recordingMs * 1000) / stored,
          unit: 'µs/event',
        },
        'packing took': { value: packing.ms, unit: 'ms' },
        'packing, processor time': { value: (packing.cpuMs * 1000) / stored, unit: 'µs/event' },
      },
      payload,
      durability: 'fsync and synchronous_commit on',
      postgres: embeddedPostgresVersion(),
      notes: [
        'growth of the database directory over a fresh installation with one project, divided by events stored: rows, indexes, spool, issues, counts; service stopped, spool vacuumed as autovacuum does',
        'without the write-ahead log, a ring of at most 2 GiB that does not grow with what is stored',
        'packed: the packing job, run with the clock a day ahead; processor time without the database',
      ],
    }
  } finally {
    await service.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Milliseconds that the service and its database used. */
function processorMs(pid: number): number {
  const times = processorTimeOfTree(pid)
  return PARTS.reduce((sum, part) => sum + times[part], 0)
}

type RowsAndBlocks = { readonly rowBytes: number; readonly blockBytes: number }

const parts = (
  { rowBytes, blockBytes }: RowsAndBlocks,
  allBytes: number,
  perEvent: (bytes: number) => Figure,
  state = '',
): Record<string, Figure> => ({
  [`  rows and their indexes${state}`]: perEvent(rowBytes),
  [`  blocks of bodies${state}`]: perEvent(blockBytes),
  [`  all else${state}`]: perEvent(allBytes - rowBytes - blockBytes),
})

/** Runs work on the stopped service's database. */
export async function onDatabase<T>(dataDir: string, work: (app: App) => Promise<T>): Promise<T> {
  const config = readConfig({ ...process.env, FAULTLINE_DATA_DIR: dataDir, LOG_LEVEL: 'warn' })
  const database = await openDatabase(config, () => {})
  try {
    const app = await createApp(config, database.connectionString, 4, 'bench')
    try {
      return await work(app)
    } finally {
      await app.close()
    }
  } finally {
    await database.stop()
  }
}

/** Sizes of the tables of events and of blocks. */
async function rowsAndBlocks(app: App): Promise<RowsAndBlocks> {
  const { rows } = await app.db.query<{ row_bytes: number; block_bytes: number }>(
    `select sum(pg_total_relation_size(inhrelid)) filter (where inhparent = 'events'::regclass)::bigint as row_bytes,
            sum(pg_total_relation_size(inhrelid)) filter (where inhparent = 'event_blocks'::regclass)::bigint as block_bytes
     from pg_inherits`,
  )
  return { rowBytes: rows[0]?.row_bytes ?? 0, blockBytes: rows[0]?.block_bytes ?? 0 }
}

/** Runs the job that packs closed days, as if it were the day after tomorrow. */
async function pack(app: App) {
  const startedMs = performance.now()
  const startedCpu = process.cpuUsage()
  await packColdEvents(app, { readBacklog, now: new Date(Date.now() + 2 * DAY_MS), minBytes: 0 })
  const cpu = process.cpuUsage(startedCpu)
  const ms = performance.now() - startedMs
  await app.db.query('vacuum spool')
  return { ms, cpuMs: (cpu.user + cpu.system) / 1000, ...(await rowsAndBlocks(app)) }
}

/** Bytes on disk of the database of a data directory: the write-ahead log, and everything else. */
function diskOf(dataDir: string): { tables: number; log: number } {
  const sums = { tables: 0, log: 0 }
  for (const entry of readdirSync(join(dataDir, 'postgres'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const bytes = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.blocks ?? 0
    sums[entry.parentPath.includes('pg_wal') ? 'log' : 'tables'] += bytes * 512
  }
  return sums
}
