import { MAX_ALERTS_PER_MINUTE, type Unit } from '#shared/alert-rules.ts'
import type { SeverityName } from '#shared/issue-values.ts'
import type { FactContext } from '../../platform/context/actor.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import * as sql from './fired.queries.ts'
import { lockRules } from './rules.queries.ts'
import type { AlertParts } from './view-rule.ts'
import { sendMessages } from './send-messages.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/** A rule that has a reason to fire. */
export type Firing = {
  readonly ruleId: string
  /** The subject: an issue, a journey, or '' for the project as a whole. */
  readonly subject: string
  readonly issueId: string | null
  /** A rule fires once for each cause and subject. */
  readonly cause: string
  readonly title: string
  readonly severity: SeverityName
  readonly value: number | null
  readonly unit: Unit | null
  readonly threshold: number | null
  readonly windowMinutes: number | null
  readonly explanation: string
}

/**
 * Fires rules, in the transaction of what made them fire: at most once per cool-down, subject and cause. The first ten
 * alerts of a rule in a minute are sent, of the others one summary when the minute is over.
 * @returns ids of the alerts
 */
export async function fireAlerts(
  tx: Tx,
  parts: AlertParts,
  context: FactContext,
  firings: readonly Firing[],
): Promise<string[]> {
  if (firings.length === 0) return []
  const { at } = context
  const bySubject = new Map(firings.map((firing) => [`${firing.ruleId}/${firing.subject}`, firing]))
  // Rules before subjects, as the evaluation of every minute locks them.
  await lockRules(tx, [...new Set(firings.map(({ ruleId }) => ruleId))])
  const passed = await sql.passCooldown(tx, [...bySubject.values()], at)
  const fired = await sql.insertAlerts(
    tx,
    [...bySubject].filter(([key]) => passed.has(key)).map(([, firing]) => ({ ...firing, id: newId() })),
    at,
  )
  if (fired.length === 0) return []

  const { sent, summarised } = await oneByOne(tx, fired, at)
  await sql.planEscalations(
    tx,
    sent.map(({ id }) => id),
  )
  await sendMessages(tx, parts, { alertIds: sent.map(({ id }) => id), purpose: 'fired', at })
  if (summarised.length > 0)
    await sql.addToSummary(
      tx,
      summarised.map(({ id, rule_id }) => ({ id, ruleId: rule_id })),
      minuteOf(at),
    )
  await recordFacts(
    tx,
    context,
    fired.map((alert): Fact => ({
      kind: 'alert.fired',
      orgId: alert.org_id,
      projectId: alert.project_id,
      targetId: alert.id,
      label: alert.title,
      data: { rule_id: alert.rule_id, severity: alert.severity },
    })),
  )
  return fired.map(({ id }) => id)
}

const minuteOf = (at: Date): Date => new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS)

/** Which alerts are sent one by one: the first ten of a rule and minute. */
async function oneByOne(tx: Tx, fired: readonly sql.FiredRow[], at: Date) {
  const ofRules = Map.groupBy(fired, ({ rule_id }) => rule_id)
  const counts = new Map([...ofRules].map(([ruleId, alerts]) => [ruleId, alerts.length]))
  const totals = await sql.countInMinute(tx, counts, minuteOf(at), at)
  const sent: sql.FiredRow[] = []
  const summarised: sql.FiredRow[] = []
  for (const [ruleId, alerts] of ofRules) {
    const before = (totals.get(ruleId) ?? alerts.length) - alerts.length
    const free = Math.max(MAX_ALERTS_PER_MINUTE - before, 0)
    sent.push(...alerts.slice(0, free))
    summarised.push(...alerts.slice(free))
  }
  return { sent, summarised }
}
