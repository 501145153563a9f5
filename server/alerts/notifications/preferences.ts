import { z } from 'zod'
import { SEVERITIES, type SeverityName } from '#shared/issue-values.ts'
import { type QuietHours, WEEKDAYS } from '#shared/quiet-hours.ts'
import { quietUntil } from './quiet-until.ts'

/** How a member wants to be notified outside the dashboard. */
export type Preferences = {
  readonly email: boolean
  readonly push: boolean
  /** Pushes below it are not sent. */
  readonly pushMinSeverity: SeverityName
  readonly quietHours: QuietHours
}

/** Preferences of members who changed nothing: a member who registers a device asks for all pushes. */
export const DEFAULTS: Preferences = {
  email: true,
  push: true,
  pushMinSeverity: 'low',
  quietHours: { enabled: false, start: '22:00', end: '07:00', time_zone: 'UTC', days: WEEKDAYS },
}

/** As it is stored. */
export const StoredQuietHours = z.object({
  enabled: z.boolean(),
  start: z.string(),
  end: z.string(),
  time_zone: z.string(),
  days: z.array(z.enum(WEEKDAYS)),
})

/** Until when a mail or push waits; null when it is sent now. Quiet hours never hold back what is critical. */
export const heldUntil = (
  { quietHours }: Pick<Preferences, 'quietHours'>,
  severity: SeverityName,
  now: Date,
): Date | null => (severity === 'critical' ? null : quietUntil(quietHours, now))

/** For `NewDelivery.holdMs` and `QueuedMail.holdMs`: how long that is. */
export const computeHoldMs = (until: Date | null, now: Date): number =>
  until === null ? 0 : Math.max(0, until.getTime() - now.getTime())

export const wantsPush = ({ push, pushMinSeverity }: Preferences, severity: SeverityName): boolean =>
  push && SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(pushMinSeverity)
