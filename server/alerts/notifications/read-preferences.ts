import type { z } from 'zod'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { NotificationPreferences } from './preferences.api.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import { DEFAULTS, type Preferences, StoredQuietHours } from './preferences.ts'
import { selectProjectChannels } from './projects.queries.ts'
import { type PreferencesRow, selectPreferences } from './preferences.queries.ts'

/** How each of these members wants to be notified. */
export async function readMemberPreferences(
  db: Connection,
  orgId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, Preferences>> {
  const rows = userIds.length === 0 ? [] : await selectPreferences(db, orgId, userIds)
  const stored = new Map(rows.map((row) => [row.user_id, preferencesFrom(row)]))
  return new Map(userIds.map((id) => [id, stored.get(id) ?? DEFAULTS]))
}

const preferencesFrom = (row: PreferencesRow): Preferences => ({
  email: row.email,
  push: row.push,
  pushMinSeverity: SEVERITIES.find((severity) => severity === row.push_min_severity) ?? 'low',
  quietHours: StoredQuietHours.parse(row.quiet_hours),
  digest: { enabled: row.digest, timeZone: row.digest_time_zone },
})

type View = z.input<typeof NotificationPreferences>

/** The caller's own preferences in this organisation. */
export const readPreferences = (app: App, member: Pick<SessionActor, 'orgId' | 'userId'>): Promise<View> =>
  viewPreferences(app.db, member)

/** The same inside a transaction that changed them. */
export async function viewPreferences(
  db: Connection,
  { orgId, userId }: Pick<SessionActor, 'orgId' | 'userId'>,
): Promise<View> {
  const preferences = (await readMemberPreferences(db, orgId, [userId])).get(userId) ?? DEFAULTS
  const { email, push, pushMinSeverity, quietHours, digest } = preferences
  return {
    channels: { email, push },
    push_min_severity: pushMinSeverity,
    weekly_digest: { enabled: digest.enabled, time_zone: digest.timeZone },
    projects: (await selectProjectChannels(db, orgId, userId)).map((row) => ({
      project_id: row.project_id,
      channels: { email: row.email, push: row.push },
    })),
    quiet_hours: { ...quietHours, days: [...quietHours.days] },
  }
}
