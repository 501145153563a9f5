import { backlogOfProject } from '../ingest/spool/project-backlog.ts'
import { forgetDevices } from '../alerts/notifications/forget-devices.ts'
import { CANARY_PLACE, checkCanary, keepCanary } from '../platform/storage/canary.queries.ts'
import pino from 'pino'
import type { AlertParts } from '../alerts/rules/view-rule.ts'
import { recordAnalyses } from '../assistant/analysis/record-analyses.ts'
import { recordAlerts } from '../alerts/rules/record-alerts.ts'
import { openAuditKey } from '../history/audit/audit-key.ts'
import { recordAudit } from '../history/audit/record-audit.ts'
import { createPasswordHasher, PASSWORD_COST } from '../identity/auth/password-hasher.ts'
import type { Config } from '../config/config.ts'
import { type App, errorForLog } from '../platform/context/app.ts'
import type { FactSubscriber } from '../platform/context/actor.ts'
import { createEgress } from '../platform/egress/create-egress.ts'
import { createTxtResolver } from '../platform/egress/resolve-txt.ts'
import { fileMailer } from '../platform/mails/file-mailer.ts'
import { smtpMailer } from '../platform/mails/smtp-mailer.ts'
import { parseAddressRange, type AddressRange } from '../platform/kernel/address-range.ts'
import { systemClock } from '../platform/kernel/clock.ts'
import { ObjectStore } from '../platform/objects/object-store.ts'
import { READ_LIMITS, followSegments, SegmentReader } from '../events/store/segment-reader.ts'
import { openBus } from '../platform/storage/bus.ts'
import { Database } from '../platform/storage/database.ts'
import { createPool, databaseAddress } from '../platform/storage/pool.ts'
import { ReadOnlyDatabase } from '../platform/storage/read-only.ts'
import { notifyAuthors } from '../issues/feedback/record-feedback.ts'
import { linkNewReleases } from '../integrations/code-host/link-releases-job.ts'
import { recordTrackers } from '../integrations/trackers/record-trackers.ts'
import { recordWebhooks } from '../integrations/webhooks/record-webhooks.ts'
import type { SealedColumn } from '../platform/storage/sealed-column.ts'
import { createSealer, generatedEncryptionKeys, parseEncryptionKeys, type Sealer } from '../platform/storage/seal.ts'

/**
 * Subscribers of facts that tell someone, in this order, in the transaction of the change and after those that tell no one.
 * All are added here. Their folders build on `history/facts/`, which therefore cannot name them.
 */
const factSubscribers = (parts: AlertParts, config: Config): readonly FactSubscriber[] => [
  recordWebhooks,
  linkNewReleases,
  recordAlerts(parts),
  recordTrackers,
  notifyAuthors(parts),
  recordAnalyses(config.analysesCritical),
]

export type AppParts = Partial<
  Pick<App, 'clock' | 'log' | 'mail' | 'egress' | 'resolveTxt' | 'passwords' | 'factSubscribers'>
>

/** Opened with the first statement of a member. */
const READ_ONLY_CONNECTIONS = 4
/** Twice the time of such a statement and its plan. */
const READ_ONLY_SILENCE_MS = 10_000

/**
 * Composition root: configuration → pool, bus, sealer, clock, mail → App.
 * @param connectionString of a migrated database
 * @throws Error with one line for the operator when the encryption keys do not fit the database
 */
export async function createApp(
  config: Config,
  connectionString: string,
  poolMax: number,
  name: string,
  parts: AppParts = {},
): Promise<App> {
  const log = parts.log ?? createLog(config)
  const clock = parts.clock ?? systemClock
  const poolOf = (max: number, purpose: string, silenceMs?: number) =>
    createPool({
      connectionString,
      name: `faultline ${purpose}`,
      max,
      ...(silenceMs === undefined ? {} : { silenceMs }),
      onError: (error) =>
        log.warn({ err: error.message }, 'an idle database connection was lost; a new one replaces it'),
    })
  const db = new Database(poolOf(poolMax, name))
  if (config.blocks.url !== null && config.s3 !== null)
    followSegments(
      db,
      new SegmentReader(new ObjectStore(config.blocks.url, config.s3, { clock, ...READ_LIMITS }), () =>
        clock.monotonicMs(),
      ),
    )
  const readOnly = new ReadOnlyDatabase(poolOf(READ_ONLY_CONNECTIONS, `${name} queries`, READ_ONLY_SILENCE_MS))
  const sealer = createSealer(
    config.encryptionKeys === null
      ? generatedEncryptionKeys(config.dataDir)
      : parseEncryptionKeys(config.encryptionKeys),
  )
  try {
    await checkKeys(db, sealer)
    const auditKey = await openAuditKey(db, sealer, clock)
    const bus = await openBus(connectionString, (error) =>
      log.warn({ err: error.message }, 'the database connection that listens for messages was lost; it reconnects'),
    )
    const egress =
      parts.egress ??
      createEgress({
        allowed: config.egressAllowCidrs.map(rangeOf),
        loopbackOpen: config.mode === 'relaxed',
        httpOpen: config.egressAllowHttp,
        ownPorts: [config.port],
        database: () => databaseAddress(connectionString),
      })
    const quietSubscribers = [recordAudit(auditKey), forgetDevices]
    const app: App = {
      config,
      log,
      clock,
      db,
      sealer,
      auditKey,
      bus,
      tx: (work) => db.tx(work),
      readOnly,
      mail: parts.mail ?? createMailer(config, clock, log),
      passwords: parts.passwords ?? createPasswordHasher(PASSWORD_COST),
      egress,
      resolveTxt: parts.resolveTxt ?? createTxtResolver(),
      quietSubscribers,
      factSubscribers: [
        ...quietSubscribers,
        ...factSubscribers({ sealer, auditKey, config }, config),
        ...(parts.factSubscribers ?? []),
      ],
      lagMs: async (projectId) => (await backlogOfProject(app, projectId))?.oldestAgeMs ?? 0,
      // Handlers load with the first call: most processes need none.
      operations: {
        call: async (actor, name, input) =>
          (await import('./api/call-operation.ts')).callOperation(app, actor, name, input),
        collect: async (...given) => (await import('./api/call-operation.ts')).collectStream(app, ...given),
      },
      async close() {
        await egress.close()
        await bus.close()
        await readOnly.close()
        await db.close()
      },
    }
    return app
  } catch (error) {
    await db.close()
    throw error
  }
}

function createMailer({ smtpUrl, mailFrom, dataDir }: Config, clock: App['clock'], log: App['log']): App['mail'] {
  const now = () => clock.now()
  if (smtpUrl !== null) return smtpMailer(smtpUrl, mailFrom, now)
  return fileMailer(dataDir, mailFrom, now, (file, subject) =>
    log.info({ file, subject }, 'a mail was written to a file because no SMTP server is configured'),
  )
}

function rangeOf(text: string): AddressRange {
  const range = parseAddressRange(text)
  if (range === null) throw new Error(`EGRESS_ALLOW_CIDRS holds ${text}, which is no range of addresses`)
  return range
}

/** JSON lines on standard output. Secrets are redacted by the name of their field. */
export function createLog(config: Config): App['log'] {
  return pino({
    level: config.logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: errorForLog },
    redact: { paths: ['*.password', '*.authorization', '*.cookie', '*.token', '*.secret'], censor: '[redacted]' },
  })
}

export const CANARY: SealedColumn = {
  table: 'seal_canary',
  column: 'sealed',
  keys: ['id'],
  placeOf: () => CANARY_PLACE,
}

/** Checks ENCRYPTION_KEYS at start, not at the first log-in. @throws Error when they do not fit the database */
async function checkKeys(db: App['db'], sealer: Sealer): Promise<void> {
  const sealed = await keepCanary(db, sealer)
  try {
    checkCanary(sealed, sealer)
  } catch (error) {
    throw new Error(
      'ENCRYPTION_KEYS does not fit this database: it was set up with another key. Add that key to the list, separated by a comma.',
      { cause: error },
    )
  }
}
