import { type TriggerType, thresholdUnit } from '#shared/alert-rules.ts'
import { type SeverityName, severityName } from '#shared/issue-values.ts'
import { endAlerts } from '../rules/end-alerts.ts'
import { lockOpenEvaluated, markHeld, type OpenAlert, selectIssuesOfFacts } from '../rules/fired.queries.ts'
import { fireAlerts, type Firing } from '../rules/fire-alerts.ts'
import { sendDue } from '../rules/keep-alerts.ts'
import { ConditionsInput } from '../rules/rule.api.ts'
import { claimMinute, type ListeningRule, rulesToEvaluate } from '../rules/rules.queries.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import type { Evaluator, Measured, RateRule } from './evaluator.ts'
import { EVALUATORS } from './evaluators.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import type { Connection } from '../../platform/storage/database.ts'

const ACTOR = systemActor('alerts')
/** A condition that stops for less than this has not ended: values move around their threshold. */
export const CALM_MS = 5 * MINUTE_MS
/** Rules that one transaction fires. */
const BATCH = 200

/**
 * Measures the conditions of all rules for this minute, fires those that begin to hold, and ends alerts whose condition
 * has not held for five minutes. Several workers may run it: each rule is claimed for the minute in the transaction that
 * fires it. Where there is no data nothing fires and nothing ends.
 */
export async function evaluateRules(
  app: App,
  signal?: AbortSignal,
  evaluators: ReadonlyMap<TriggerType, Evaluator> = EVALUATORS,
): Promise<void> {
  const at = app.clock.now()
  const minute = new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS)
  for (const [trigger, evaluator] of evaluators) {
    signal?.throwIfAborted()
    const rules = (await rulesToEvaluate(app.db, [trigger], minute)).map(rateRule)
    if (rules.length === 0) continue
    try {
      const measured = await evaluator.measure(app, rules, at)
      for (let from = 0; from < rules.length; from += BATCH)
        await apply(app, rules.slice(from, from + BATCH), measured, { at, minute })
    } catch (error) {
      // One trigger that cannot be measured must not silence the others.
      if (signal?.aborted === true) throw error
      app.log.error(
        { err: error, trigger_type: trigger },
        'alert rules could not be evaluated; the next minute tries again',
      )
    }
  }
}

const rateRule = ({ id, org_id, project_id, trigger_type, conditions }: ListeningRule): RateRule => ({
  id,
  orgId: org_id,
  projectId: project_id,
  trigger: trigger_type,
  conditions: ConditionsInput.parse(conditions),
})

async function apply(
  app: App,
  rules: readonly RateRule[],
  measured: ReadonlyMap<string, readonly Measured[]>,
  { at, minute }: { readonly at: Date; readonly minute: Date },
): Promise<void> {
  const holding = rules.flatMap((rule) => (measured.get(rule.id) ?? []).filter(({ holds }) => holds))
  const severities = await readIssueSeverities(
    app.db,
    holding.flatMap(({ issueId }) => issueId ?? []),
  )
  await app.tx(async (tx) => {
    const claimed = await claimMinute(
      tx,
      rules.map(({ id }) => id),
      minute,
    )
    const open = Map.groupBy(await lockOpenEvaluated(tx, [...claimed]), ({ rule_id }) => rule_id)
    const firings: Firing[] = []
    const held: { id: string; value: number | null; explanation: string }[] = []
    const ended: OpenAlert[] = []
    for (const rule of rules) {
      if (!claimed.has(rule.id)) continue
      const bySubject = new Map((measured.get(rule.id) ?? []).map((one) => [one.subject, one]))
      const openSubjects = new Set<string>()
      for (const alert of open.get(rule.id) ?? []) {
        openSubjects.add(alert.subject)
        const now = bySubject.get(alert.subject)
        if (now?.holds === true) held.push({ id: alert.id, value: now.value, explanation: now.explanation })
        // Without data it is not known whether the condition ended.
        else if (now !== undefined && now.value !== null && isMeasured(alert) && isCalm(alert, at)) ended.push(alert)
      }
      for (const one of bySubject.values())
        if (one.holds && !openSubjects.has(one.subject))
          firings.push(firingOf(rule, one, minute, severities.get(one.issueId ?? '')))
    }
    const context = factContext(app, ACTOR, at)
    await markHeld(tx, held, at)
    await endAlerts(tx, app, context, ended, {
      state: 'resolved',
      reason: 'Its condition has not held for 5 minutes.',
    })
    await fireAlerts(tx, app, context, firings)
  })
}

/** Begins the cause of alerts that fired because of a measurement. */
const MEASURED = 'minute '

/** Alerts of facts, such as an escalation, end with another fact. */
const isMeasured = ({ cause }: OpenAlert): boolean => cause.startsWith(MEASURED)

const isCalm = ({ held_at }: OpenAlert, at: Date): boolean => at.getTime() - held_at.getTime() >= CALM_MS

/** The severity of alerts that are about no issue. */
const SEVERITIES_BY_TRIGGER: Readonly<Partial<Record<TriggerType, SeverityName>>> = {
  pre_crash_state: 'high',
  critical_path: 'critical',
  performance_threshold: 'medium',
  battery_drain_threshold: 'medium',
  monitor: 'high',
}

const firingOf = (rule: RateRule, one: Measured, minute: Date, severity: SeverityName | undefined): Firing => ({
  ruleId: rule.id,
  subject: one.subject,
  issueId: one.issueId ?? null,
  cause: MEASURED + minute.toISOString(),
  title: one.title,
  severity: severity ?? SEVERITIES_BY_TRIGGER[rule.trigger] ?? 'high',
  value: one.value,
  unit: thresholdUnit(rule.trigger, rule.conditions),
  threshold: rule.conditions.threshold ?? null,
  windowMinutes: rule.conditions.window_minutes ?? null,
  explanation: one.explanation,
})

export const evaluateAlertsTask = defineTask({
  name: 'evaluate-alerts',
  payload: NoPayload,
  cron: '* * * * *',
  isPrompt: true,
  async run(app, _payload, signal) {
    await evaluateRules(app, signal)
    await sendDue(app, signal)
  },
})

/** Severities of issues, by id. */
async function readIssueSeverities(db: Connection, issueIds: readonly string[]): Promise<Map<string, SeverityName>> {
  const issues = await selectIssuesOfFacts(db, [...new Set(issueIds)])
  return new Map(issues.map(({ id, severity }) => [id, severityName(severity)]))
}
