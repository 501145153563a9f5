import { pendingMigrations } from '../../platform/storage/migrate.ts'
import type { App } from '../../platform/context/app.ts'
import type { Intake } from '../../ingest/intake/create-intake.ts'
import type { OpenLog } from '../../ingest/spool/open-intake-log.ts'
import { ping } from '../../ingest/spool/spool.queries.ts'
import { readCanary } from '../canary/create-canary.ts'
import type { Readiness } from '../http/health.ts'

const MAX_WAIT_MS = 2_000
/** With an older entry in the spool the process is not ready. */
const MAX_BACKLOG_AGE_MS = 15 * 60_000

/** Not ready while migrations of this version are missing. Newer ones, of another process, are fine. */
async function migrationsCheck(app: App): Promise<{ ok: boolean; detail: string }> {
  const missing = await within(MAX_WAIT_MS, pendingMigrations(app.db)).catch(() => null)
  if (missing === null) return { ok: false, detail: 'unknown' }
  return missing.length === 0
    ? { ok: true, detail: 'up to date' }
    : { ok: false, detail: `missing ${missing.join(', ')}` }
}

const SPOOL_DETAILS: Readonly<Record<ReturnType<Intake['spool']['readiness']>, string>> = {
  open: 'open',
  full: 'full: the backlog has reached MAX_BACKLOG',
  disk: 'closed: the disk of the database is nearly full',
  down: 'closed: the database does not accept writes',
}
const LOG_DETAILS: typeof SPOOL_DETAILS = {
  open: 'open',
  full: 'full: too many requests wait for the intake log',
  disk: 'closed: the intake log has reached SPOOL_MAX_MB',
  down: 'closed: the intake log does not accept writes',
}

type Check = Readiness['checks'][string]

/**
 * Ready means: the database answers, is migrated, and the intake accepts requests. With a log the intake accepts them
 * without the database, so its process stays ready.
 */
export async function readReadiness(app: App, intake: Intake | null, used: OpenLog | null): Promise<Readiness> {
  const started = app.clock.monotonicMs()
  const database = await within(MAX_WAIT_MS, ping(app.db)).then(
    () => ({ ok: true, detail: `${Math.round(app.clock.monotonicMs() - started)} ms` }),
    () => ({ ok: false, detail: 'The database does not answer.' }),
  )
  const spool = intake?.spool.readiness() ?? 'open'
  const backlog =
    intake === null || !database.ok ? null : await within(MAX_WAIT_MS, intake.spool.backlog()).catch(() => null)
  const needsNoDatabase = intake !== null && used !== null
  const checks: Record<string, Check> = {
    database,
    migrations: database.ok ? await migrationsCheck(app) : { ok: false, detail: 'unknown' },
    ...(intake === null
      ? {}
      : { spool: { ok: spool === 'open', detail: (used === null ? SPOOL_DETAILS : LOG_DETAILS)[spool] } }),
    ...(used === null ? {} : { intake_log: await logCheck(used) }),
    ...(backlog === null
      ? {}
      : {
          backlog: {
            ok: backlog.oldestAgeMs < MAX_BACKLOG_AGE_MS,
            detail: `${backlog.entries} entries, oldest ${Math.round(backlog.oldestAgeMs / 1000)} s`,
          },
        }),
  }
  const isIgnored = (name: string): boolean =>
    (needsNoDatabase && !database.ok && (name === 'database' || name === 'migrations')) ||
    // Pages and API work without the log.
    (intake === null && name === 'intake_log')
  const ready = Object.entries(checks).every(([name, { ok }]) => ok || isIgnored(name))
  const canary = database.ok ? await within(MAX_WAIT_MS, canaryCheck(app)).catch(() => null) : null
  return { ready, checks: canary === null ? checks : { ...checks, canary } }
}

/** Messages are old while the database is away, and the log still takes more: their age closes nothing. */
async function logCheck(used: OpenLog): Promise<Check> {
  const backlog = await within(MAX_WAIT_MS, used.backlog()).catch(() => null)
  if (backlog === null) return { ok: false, detail: 'The intake log does not answer.' }
  return { ok: true, detail: `${backlog.messages} messages, oldest ${Math.round(backlog.oldestAgeMs / 1000)} s` }
}

/** Says whether alerts arrive. Where they do not, the process can work all the same: taking it away would help no one. */
async function canaryCheck(app: App): Promise<{ ok: boolean; detail: string } | null> {
  const { state, failed_step: step, explanation } = await readCanary(app)
  if (state === 'off') return null
  return { ok: state !== 'broken', detail: step === null ? state : `${state} at ${step}. ${explanation}` }
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
