import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '#server/platform/kernel/clock.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { dayPlus, utcDay } from '#server/platform/kernel/day.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { CopyRows } from '#server/platform/storage/copy-in.ts'
import { Database } from '#server/platform/storage/database.ts'
import { ensureDayPartitions } from '#server/platform/storage/day-partitions.ts'
import { createPool } from '#server/platform/storage/pool.ts'
import { folderPlace } from '#server/service/backup/folder-place.ts'
import { restoreBackup } from '#server/service/backup/restore-backup.ts'
import { verifyBackup } from '#server/service/backup/verify-backup.ts'
import { type BackupOptions, writeBackup } from '#server/service/backup/write-backup.ts'
import { migrateDatabase } from '#server/service/cli/database.ts'
import type { BenchArgs, BenchResult } from './bench.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'

export const summary =
  'backup, second backup and restore of packed days and a table of log entries (--gb=2, --days=10, --folder=<on a disk>)'

const BLOCK_BYTES = 25_000
const EVENTS_PER_BLOCK = 50
const BLOCKS_AT_ONCE = 400
const LOG_BYTES = 300
const nothing = (): void => {}

export async function run({ options }: BenchArgs): Promise<BenchResult> {
  const gb = Number(options['gb'] ?? 2)
  const days = Number(options['days'] ?? 10)
  const base = mkdtempSync(join(options['folder'] ?? tmpdir(), 'faultline-bench-backup-'))
  // As root, the databases' user must enter it.
  chmodSync(base, 0o711)
  const [dataDir, folder, target] = ['data', 'backups', 'target'].map((name) => join(base, name))
  if (dataDir === undefined || folder === undefined || target === undefined) throw new Error('no folders')
  const signal = new AbortController().signal
  const source = await startEmbeddedPostgres({ dataDir, log: nothing })
  try {
    await migrateDatabase(source.connectionString, nothing)
    await seed(source.connectionString, gb * 1e9, days)
    const backUp = (): Promise<[number, Awaited<ReturnType<typeof writeBackup>>]> =>
      timed(() =>
        writeBackup({
          connectionString: source.connectionString,
          dataDir,
          place: folderPlace(folder),
          version: 'bench',
          clock: systemClock,
          key: null,
          keep: null,
          progress: nothing,
          signal,
        } satisfies BackupOptions),
      )
    const [firstSeconds, first] = await backUp()
    const rssAfterMiB = process.memoryUsage().rss / 2 ** 20
    const [secondSeconds, second] = await backUp()
    const empty = await startEmbeddedPostgres({ dataDir: target, log: nothing })
    try {
      const work = { key: null, opener: null, progress: nothing, log: nothing, signal }
      const [verifySeconds, backup] = await timed(() => verifyBackup(folderPlace(folder), null, work))
      const [restoreSeconds, restored] = await timed(() => restoreBackup(empty.connectionString, backup, work))
      return {
        figures: {
          'data (COPY)': { value: first.bytes / 1e9, unit: 'GB' },
          'data directory': { value: sizeOf(join(dataDir, 'postgres', 'base')) / 1e9, unit: 'GB' },
          rows: { value: restored.rows, unit: '' },
          'backup folder': { value: first.storedBytes / 1e9, unit: 'GB' },
          'first backup': { value: firstSeconds, unit: 's' },
          'second backup': { value: secondSeconds, unit: 's' },
          'written by the second': { value: second.writtenBytes / 1e6, unit: 'MB' },
          'verifying all files': { value: verifySeconds, unit: 's' },
          restore: { value: restoreSeconds, unit: 's' },
          'memory of this process': { value: rssAfterMiB, unit: 'MiB' },
        },
        payload: `${days} packed days of events (blocks of ${EVENTS_PER_BLOCK}, random bytes, ${BLOCK_BYTES} each), and log entries of today, a third of the bytes`,
        durability: 'fsync and synchronous_commit on',
        postgres: embeddedPostgresVersion(),
        notes: ['the restore reads back every table and makes all indexes'],
      }
    } finally {
      await empty.stop()
    }
  } finally {
    await source.stop()
    rmSync(base, { recursive: true, force: true })
  }
}

async function seed(connectionString: string, totalBytes: number, days: number): Promise<void> {
  const db = new Database(createPool({ connectionString, name: 'bench', max: 1, silenceMs: 600_000, onError: nothing }))
  const project = newId()
  const today = utcDay(new Date())
  const blocksPerDay = Math.ceil((totalBytes * 0.67) / days / (BLOCK_BYTES + EVENTS_PER_BLOCK * 200))
  let blockId = 0
  for (let back = 1; back <= days; back++) {
    const day = dayPlus(today, -back)
    await ensureDayPartitions(db, [{ table: 'events' }, { table: 'event_blocks' }], day)
    for (let made = 0; made < blocksPerDay; made += BLOCKS_AT_ONCE) {
      const rows = new CopyRows()
      const from = blockId + 1
      for (let n = 0; n < Math.min(BLOCKS_AT_ONCE, blocksPerDay - made); n++) {
        rows.row(3)
        rows.day(day)
        rows.int64(++blockId)
        rows.bytes(randomBytes(BLOCK_BYTES))
      }
      await db.tx(async (tx) => {
        await tx.copyIn('event_blocks (received_day, block_id, body)', rows)
        await tx.query(
          `insert into events (received_day, project_id, event_id, issue_id, received_at, occurred_at, level, release, environment, client_ip, user_hash, body_encoding, body_start, body_end, block_id)
           select $1::date, $2, gen_random_uuid(), gen_random_uuid(), $1::date, $1::date + n * interval '1 second', 'error', 'shop@1.4.0', 'production', '203.0.113.7', n, 4, n % 50 * 4000, n % 50 * 4000 + 4000, $3::bigint + n / 50
           from generate_series(0, $4::int) n`,
          [day, project, from, (blockId - from + 1) * EVENTS_PER_BLOCK - 1],
        )
      })
    }
  }
  await ensureDayPartitions(db, [{ table: 'logs' }], today)
  const logs = Math.ceil((totalBytes * 0.33) / (LOG_BYTES + 150))
  for (let made = 0; made < logs; made += 100_000)
    await db.query(
      `insert into logs (received_day, project_id, id, received_at, occurred_at, level, severity_number, body, environment, attributes)
       select $1::date, $2, gen_random_uuid(), now(), now() + n * interval '1 ms', 'info', 9,
         'request ' || n || ' took ' || n % 977 || ' ms ' || repeat(md5(n::text), 6), 'production', jsonb_build_object('user.id', n % 1000, 'path', '/cart/' || n % 77)
       from generate_series(1, $3::int) n`,
      [today, project, Math.min(100_000, logs - made)],
    )
  await db.query('checkpoint')
  await db.close()
}

async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const startedMs = performance.now()
  const result = await work()
  return [(performance.now() - startedMs) / 1_000, result]
}

function sizeOf(path: string): number {
  if (!existsSync(path)) return 0
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const stat = statSync(join(path, name), { throwIfNoEntry: false })
    return sum + (stat?.isFile() === true ? stat.size : 0)
  }, 0)
}
