import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '#server/app.ts'
import { migrateDatabase } from '#server/cli/database.ts'
import { readConfig } from '#server/config.ts'
import { startEmbeddedPostgres } from '#server/embedded-postgres/start.ts'
import { type Claim, print, type TortureArgs, type Verdict } from './torture.ts'
import { deliverUnderFaults, type WebhookRun } from './webhook-run.ts'

/**
 * T-15: deliveries to receivers of which a quarter answers with errors, hangs and resets. T-16: the same while workers
 * are killed.
 */
export async function webhooks({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const shared = {
    seed,
    deliveries: Number(options['deliveries'] ?? (full ? 10_000 : 2_000)),
    // Twelve hours become 4.3 s, or 22.
    scale: full ? 0.0005 : 0.0001,
    timeoutMs: full ? 10_000 : 3_000,
  }
  const calm = await onItsOwnDatabase({
    ...shared,
    perSecond: Number(options['rate'] ?? 200),
    workers: 2,
    kills: 0,
    leaseMs: 30_000,
  })
  const killed = await onItsOwnDatabase({
    ...shared,
    // In the full form the kills need 100 s.
    perSecond: Number(options['rate'] ?? (full ? 100 : 200)),
    workers: 4,
    kills: Number(options['kills'] ?? (full ? 100 : 10)),
    leaseMs: full ? 30_000 : 6_000,
  })
  return { claims: [...calm, ...killed.map((one) => ({ ...one, asked: `T-16: ${one.asked}` }))] }
}

async function onItsOwnDatabase(run: Omit<WebhookRun, 'app' | 'connectionString' | 'print'>): Promise<Claim[]> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} })
  try {
    const { connectionString } = postgres
    await migrateDatabase(connectionString, () => {}, new AbortController().signal)
    const app = await createApp(
      readConfig({ FAULTLINE_DATA_DIR: join(folder, 'service'), LOG_LEVEL: 'fatal' }),
      connectionString,
      4,
      'torture',
    )
    try {
      return await deliverUnderFaults({ ...run, app, connectionString, print })
    } finally {
      await app.close()
    }
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
