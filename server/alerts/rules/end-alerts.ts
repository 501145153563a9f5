import { memberBehind, type FactContext } from '../../platform/context/actor.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { alertsOfSummary, type LockedAlert, markEnded } from './fired.queries.ts'
import type { AlertParts } from './view-rule.ts'
import { sendMessages } from './send-messages.ts'

export type Ending = {
  readonly state: 'resolved' | 'expired'
  /** A sentence that a person reads. */
  readonly reason: string
  /** A member resolved the alert itself: an entry of the audit log. */
  readonly byMember?: boolean
}

/**
 * Ends open alerts and says so through their actions. The caller has locked them.
 */
export async function endAlerts(
  tx: Tx,
  parts: AlertParts,
  context: FactContext,
  alerts: readonly LockedAlert[],
  { state, reason, byMember = false }: Ending,
): Promise<void> {
  const open = alerts.filter((alert) => alert.state === 'firing' || alert.state === 'acknowledged')
  if (open.length === 0) return
  const { at } = context
  const userId = memberBehind(context.actor)?.userId ?? null
  await markEnded(
    tx,
    open.map(({ id }) => id),
    state,
    reason,
    at,
  )
  const sentOneByOne = open.filter(({ summary_minute }) => summary_minute === null)
  await sendMessages(tx, parts, { alertIds: sentOneByOne.map(({ id }) => id), purpose: 'resolved', at, userId })
  await endSummaries(tx, parts, open, at, userId)
  await recordFacts(
    tx,
    context,
    open.map(({ id, org_id, project_id, title }): Fact => ({
      kind: byMember ? 'alert.resolved' : 'alert.ended',
      orgId: org_id,
      projectId: project_id,
      targetId: id,
      label: title,
      data: { state, reason },
    })),
  )
}

/** A summary is resolved with the last open alert of those that it stands for. */
async function endSummaries(
  tx: Tx,
  parts: AlertParts,
  ended: readonly LockedAlert[],
  at: Date,
  userId: string | null,
): Promise<void> {
  const summaries = new Map<string, { ruleId: string; minute: Date }>()
  for (const { rule_id: ruleId, summary_minute: minute } of ended)
    if (minute !== null) summaries.set(`${ruleId}/${minute.getTime()}`, { ruleId, minute })
  for (const { ruleId, minute } of summaries.values()) {
    const summary = await alertsOfSummary(tx, ruleId, minute)
    const [newest] = summary?.ids ?? []
    if (summary === null || newest === undefined || summary.open > 0) continue
    await sendMessages(tx, parts, {
      alertIds: [newest],
      purpose: 'resolved',
      at,
      userId,
      summary: summariseAlerts(summary),
    })
  }
}

const MAX_NAMED = 100

export const summariseAlerts = ({ ids, from, to }: { readonly ids: readonly string[]; from: Date; to: Date }) => ({
  count: ids.length,
  alert_ids: ids.slice(0, MAX_NAMED),
  from: from.toISOString(),
  to: to.toISOString(),
})
