import type { App } from '../../platform/context/app.ts'
import { rateByShare } from './sweep.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { issueSettings } from '../rules/issue-settings.ts'
import { selectSettingsOfActive } from '../../projects/registry/projects.queries.ts'
import { readSessionTotals } from '../../telemetry/app-health/session-totals.ts'

/**
 * Rates today's issues by the share of the day's active users that they affected (docs/issues.md). Skips projects whose
 * sessions name no users. It is here because the domains of issues do not read sessions.
 */
export async function rateImpact(app: App, signal?: AbortSignal): Promise<void> {
  const now = app.clock.now()
  const today = new Date(`${utcDay(now)}T00:00:00Z`)
  const projects = await selectSettingsOfActive(app.db, today)
  for (const { id, settings } of projects) {
    signal?.throwIfAborted()
    // Includes the current minute.
    const to = new Date(now.getTime() + 60_000)
    const { users } = await readSessionTotals(app.db, { projectId: id, from: today, to })
    if (users === 0) continue
    const share = issueSettings(settings).severity_rules.user_share
    await rateByShare(app, id, minUsers(users, share), signal)
  }
}

/** The smallest number of users that is at least the share. */
function minUsers(active: number, share: number): number {
  const about = Math.max(1, Math.floor(share * active))
  return about / active >= share ? about : about + 1
}

export const rateImpactTask = defineTask({
  name: 'rate-impact',
  payload: NoPayload,
  cron: '*/10 * * * *',
  async run(app, _payload, signal) {
    await rateImpact(app, signal)
  },
})
