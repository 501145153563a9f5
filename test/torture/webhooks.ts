import { onNewDatabase } from './on-new-database.ts'
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

const onItsOwnDatabase = (run: Omit<WebhookRun, 'app' | 'connectionString' | 'print'>): Promise<Claim[]> =>
  onNewDatabase(async ({ connectionString, openApp }) =>
    deliverUnderFaults({ ...run, app: await openApp(), connectionString, print }),
  )
