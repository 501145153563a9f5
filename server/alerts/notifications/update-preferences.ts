import type { z } from 'zod'
import { lockUser } from '../../identity/auth/auth.queries.ts'
import type { Member } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import type { NotificationPreferences, preferencesRoutes } from './preferences.api.ts'
import { DEFAULTS, type Preferences } from './preferences.ts'
import { writePreferences } from './preferences.queries.ts'
import { isEndless, WEEKDAYS } from '#shared/quiet-hours.ts'
import { readMemberPreferences, viewPreferences } from './read-preferences.ts'

type Change = z.output<(typeof preferencesRoutes)['updateNotificationPreferences']['body']>

/** Changes what is given. Deliveries that are held already keep their time. @throws AppError invalid (quiet_hours) */
export async function updatePreferences(
  app: App,
  { orgId, userId }: Pick<Member, 'orgId' | 'userId'>,
  { channels, push_min_severity: severity, weekly_digest: digest, quiet_hours: quiet }: Change,
): Promise<z.input<typeof NotificationPreferences>> {
  return app.tx(async (tx) => {
    // Two changes at a time would lose one.
    await lockUser(tx, userId)
    const before = (await readMemberPreferences(tx, orgId, [userId])).get(userId) ?? DEFAULTS
    const days =
      quiet?.days === undefined ? before.quietHours.days : WEEKDAYS.filter((day) => quiet.days?.includes(day))
    const after: Preferences = {
      email: channels?.email ?? before.email,
      push: channels?.push ?? before.push,
      pushMinSeverity: severity ?? before.pushMinSeverity,
      quietHours: {
        enabled: quiet?.enabled ?? before.quietHours.enabled,
        start: quiet?.start ?? before.quietHours.start,
        end: quiet?.end ?? before.quietHours.end,
        time_zone: quiet?.time_zone ?? before.quietHours.time_zone,
        days,
      },
      digest: {
        enabled: digest?.enabled ?? before.digest.enabled,
        timeZone: digest?.time_zone ?? before.digest.timeZone,
      },
    }
    if (isEndless(after.quietHours))
      throw invalid(
        'quiet_hours would never end. Choose another end, or leave out a day; to stop all pushes, turn them off.',
      )
    await writePreferences(tx, {
      user_id: userId,
      org_id: orgId,
      email: after.email,
      push: after.push,
      push_min_severity: after.pushMinSeverity,
      quiet_hours: JSON.stringify(after.quietHours),
      digest: after.digest.enabled,
      digest_time_zone: after.digest.timeZone,
      updated_at: app.clock.now(),
    })
    return viewPreferences(tx, { orgId, userId })
  })
}
