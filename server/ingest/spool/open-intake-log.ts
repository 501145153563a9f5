import type { IntakeLogSettings } from '../../config/intake-log.ts'
import type { App } from '../../platform/context/app.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { IntakeLog, LogSetup } from './intake-log.ts'
import { selectMovedUntil } from './log-position.queries.ts'
import { type LogBacklog, type Mover, readLogBacklog, startMover } from './move-entries.ts'
import { openNatsLog } from './nats-log.ts'

export type { Mover }

/** The intake log of this process. */
export type OpenLog = {
  readonly log: IntakeLog
  /** Brings its entries into the spool, in one process at a time. */
  startMover(): Mover
  /** @throws Error when the log does not answer */
  backlog(): Promise<LogBacklog>
}

/** Opens the log of SPOOL_URL; null without one. */
export function openIntakeLog(app: App): OpenLog | null {
  const settings = app.config.intakeLog
  if (settings === null) return null
  const log = openNatsLog(settings, app.log)
  return { log, startMover: () => startMover(app, log), backlog: () => readLogBacklog(app, log) }
}

/** The time until which everything that the log acknowledged is in the spool, as the database knows it; null before the first move. */
export const readMovedUntil = (db: Connection, { stream }: IntakeLogSettings): Promise<Date | null> =>
  selectMovedUntil(db, stream)

/** How the stream is set up. @throws Error when the log does not answer */
export async function inspectIntakeLog(settings: IntakeLogSettings, appLog: App['log']): Promise<LogSetup> {
  const log = openNatsLog(settings, appLog, { keeps: false })
  try {
    return await log.setup()
  } finally {
    await log.close()
  }
}
