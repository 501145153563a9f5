import { z } from 'zod'
import { RENEW_TEXTS_JOB } from '../../symbols/files/announce-symbols.ts'
import { renewTexts } from './renew-texts.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { sweepIssues, settleReleased, rateByShare } from './sweep.ts'
import type { App } from '../../platform/context/app.ts'
import { purgeRows, inBatches } from '../../platform/jobs/purge.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { MINUTE_ROWS } from '../../projects/registry/project-rows.queries.ts'
import { deleteUserSlotsBefore } from './fold.queries.ts'
import { SECURITY_ROWS } from './record.queries.ts'
import { DAY_MS, utcDay } from '../../platform/kernel/day.ts'
import { RELEASE_COMMITS_JOB } from '../../projects/releases/add-commits.ts'
import { issueSettings } from '../rules/issue-settings.ts'
import { selectSettingsOfActive } from '../../projects/registry/projects.queries.ts'
import { readSessionTotals } from '../../telemetry/app-health/session-totals.ts'

/** Transitions by time, a few minutes late at most. */
export const sweepIssuesTask = defineTask({
  name: 'sweep-issues',
  payload: NoPayload,
  cron: '*/5 * * * *',
  async run(app, _payload, signal) {
    await sweepIssues(app, signal)
  },
})

export const pruneCountsTask = defineTask({
  name: 'prune-issue-counts',
  payload: NoPayload,
  cron: '41 * * * *',
  async run(app, _payload, signal) {
    await pruneCounts(app, signal)
  },
})

/** After files of symbols were indexed. */
export const renewTextsTask = defineTask({
  name: RENEW_TEXTS_JOB,
  payload: z.object({ project_id: z.uuid() }),
  async run(app, { project_id: projectId }, signal) {
    await renewTexts(app, projectId, signal)
  },
})

/** Retention of counts. */
const kept = { ms: 400 * DAY_MS }
/** No time to count users in begins earlier (`issues/rules/count-window.ts`). */
const USER_SLOT_RETENTION_MS = 100 * DAY_MS
const BATCH = 5_000

/** Deletes hours and users of issues, security events, and minutes of projects beyond their retention. */
export async function pruneCounts(app: App, signal?: AbortSignal): Promise<Readonly<Record<string, number>>> {
  const oldest = new Date(app.clock.now().getTime() - USER_SLOT_RETENTION_MS)
  const slots = await inBatches(BATCH, signal, () => deleteUserSlotsBefore(app.db, oldest, BATCH))
  const deleted = await purgeRows(
    app,
    [
      { rows: ownRows('issue_hours'), column: 'hour', kept },
      { rows: MINUTE_ROWS, column: 'minute', kept },
      // A dry run of an alert rule looks back seven days.
      { rows: SECURITY_ROWS, column: 'hour', kept: { ms: 8 * DAY_MS } },
    ],
    signal,
  )
  return { issue_user_slots: slots, ...deleted }
}

/**
 * Resolves issues of a commit in the release that just got this commit. The sweep does the same minutes later, also for
 * issues that a member resolves at the same time.
 */
export const releasedCommitsTask = defineTask({
  name: RELEASE_COMMITS_JOB,
  payload: NoPayload,
  async run(app, _payload, signal) {
    await settleReleased(app, signal)
  },
})

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
