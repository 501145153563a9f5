import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { purgeRows, inBatches } from '../../platform/jobs/purge.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { endAlerts, summariseAlerts } from './end-alerts.ts'
import { OUTSIDE_MAILS } from '../../platform/mails/enqueue-mails.ts'
import * as sql from './fired.queries.ts'
import * as rules from './rules.queries.ts'
import { removeActions } from './save-actions.ts'
import { sendMessages } from './send-messages.ts'
import { MINUTE_MS, HOUR_MS, DAY_MS } from '../../platform/kernel/day.ts'

/** Effects of time on alerts: escalations, summaries, expiry, and the end of old ones. */

const ACTOR = systemActor('alerts')
const BATCH = 100

/** An alert without its condition and without an acknowledgement for this long has expired. */
const EXPIRES_AFTER_MS = 7 * DAY_MS
/** As long as deliveries are kept. */
const KEPT_MS = 365 * DAY_MS
/** Longer than any window of a spike. */
const MINUTES_KEPT_MS = 26 * HOUR_MS
/** Longer than any cool-down. */
const SUBJECTS_KEPT_MS = 8 * DAY_MS
/** The last messages of a deleted rule have their attempts meanwhile. */
const RULES_KEPT_MS = DAY_MS

/** Escalates alerts that were not acknowledged in time, and sends summaries of minutes that are over. Every minute. */
export async function sendDue(app: App, signal?: AbortSignal): Promise<void> {
  const at = app.clock.now()
  await inBatches(BATCH, signal, () => app.tx((tx) => escalate(app, tx, at)))
  await inBatches(BATCH, signal, () => app.tx((tx) => summarise(app, tx, at)))
  await inBatches(BATCH, signal, () => app.tx((tx) => expire(app, tx, at)))
}

type Tx = Parameters<Parameters<App['tx']>[0]>[0]

async function escalate(app: App, tx: Tx, at: Date): Promise<number> {
  const ids = (await sql.lockEscalating(tx, at, BATCH)).map(({ id }) => id)
  if (ids.length === 0) return 0
  await sql.markEscalated(tx, ids, at)
  await sendMessages(tx, app, { alertIds: ids, purpose: 'escalated', at })
  return ids.length
}

async function summarise(app: App, tx: Tx, at: Date): Promise<number> {
  const due = await sql.claimSummaries(tx, new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS), BATCH)
  for (const { rule_id: ruleId, minute } of due) {
    const summary = await sql.alertsOfSummary(tx, ruleId, minute)
    const [newest] = summary?.ids ?? []
    if (summary === null || newest === undefined || summary.open === 0) continue
    await sendMessages(tx, app, { alertIds: [newest], purpose: 'summary', at, summary: summariseAlerts(summary) })
  }
  return due.length
}

async function expire(app: App, tx: Tx, at: Date): Promise<number> {
  const alerts = await sql.lockForgotten(tx, new Date(at.getTime() - EXPIRES_AFTER_MS), BATCH)
  await endAlerts(tx, app, factContext(app, ACTOR, at), alerts, {
    state: 'expired',
    reason: 'Its condition has not held for 7 days, and it was not acknowledged.',
  })
  return alerts.length
}

export const purgeAlertsTask = defineTask({
  name: 'purge-alerts',
  payload: NoPayload,
  cron: '37 * * * *',
  async run(app, _payload, signal) {
    await purgeRows(
      app,
      [
        { rows: rules.ALERT_ROWS, column: 'fired_at', kept: { ms: KEPT_MS } },
        { rows: rules.ISSUE_MINUTE_ROWS, column: 'minute', kept: { ms: MINUTES_KEPT_MS } },
        { rows: rules.SUBJECT_ROWS, column: 'last_fired_at', kept: { ms: SUBJECTS_KEPT_MS } },
        OUTSIDE_MAILS,
      ],
      signal,
    )
    const deletedBefore = new Date(app.clock.now().getTime() - RULES_KEPT_MS)
    await inBatches(BATCH, signal, () =>
      app.tx(async (tx) => {
        const ids = await rules.lockDeletedRules(tx, deletedBefore, BATCH)
        if (ids.length === 0) return 0
        await removeActions(tx, await rules.selectActions(tx, ids))
        await rules.deleteRuleRows(tx, ids)
        return ids.length
      }),
    )
  },
})
