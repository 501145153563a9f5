import type { z } from 'zod'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { NotificationPreferences } from './preferences.api.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import { DEFAULTS, type Preferences, StoredQuietHours } from './preferences.ts'
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
})

type View = z.input<typeof NotificationPreferences>

/** The caller's own preferences in this organisation. */
export async function readPreferences(app: App, { orgId, userId }: SessionActor): Promise<View> {
  return viewPreferences((await readMemberPreferences(app.db, orgId, [userId])).get(userId) ?? DEFAULTS)
}

export const viewPreferences = ({ email, push, pushMinSeverity, quietHours }: Preferences): View => ({
  channels: { email, push },
  push_min_severity: pushMinSeverity,
  quiet_hours: { ...quietHours, days: [...quietHours.days] },
})
