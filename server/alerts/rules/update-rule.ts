import { isDeepStrictEqual } from 'node:util'
import type { TriggerType } from '#shared/alert-rules.ts'
import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { completeConditions } from './conditions.ts'
import { requireEscalation } from './create-rule.ts'
import { endAlerts } from './end-alerts.ts'
import { lockOpenOfRules } from './fired.queries.ts'
import { type AlertRule, ConditionsInput, type RuleChange } from './rule.api.ts'
import { changeRule, lockRule, selectActions } from './rules.queries.ts'
import { saveActions } from './save-actions.ts'
import { viewRule } from './view-rule.ts'

/**
 * Changes what is given of a rule. With another condition, or turned off, its open alerts are resolved: nothing would end
 * them.
 * @throws AppError not_found, invalid
 */
export async function updateRule(
  app: App,
  actor: OrgActor,
  { ruleId, ...change }: RuleChange & { readonly ruleId: string },
): Promise<AlertRule> {
  return app.tx(async (tx) => {
    const rule = await lockRule(tx, actor, ruleId)
    if (rule === undefined) throw notFound('Alert rule')
    const context = factContext(app, actor)
    const before = ConditionsInput.parse(rule.conditions)
    const trigger = change.trigger_type ?? (rule.trigger_type as TriggerType)
    const isOther = trigger !== rule.trigger_type
    const conditions =
      change.conditions === undefined && !isOther ? before : completeConditions(trigger, change.conditions ?? {})
    const stored = await selectActions(tx, [ruleId])
    const escalations = stored.filter(({ is_escalation }) => is_escalation)
    const escalateAfter =
      change.escalate_after_minutes === undefined ? rule.escalate_after_minutes : change.escalate_after_minutes
    requireEscalation(escalateAfter, change.escalation_actions?.length ?? escalations.length)
    const of = { orgId: actor.orgId, ruleId }
    const secrets = new Map<string, string>()
    const save = async (field: 'actions' | 'escalation_actions') => {
      const given = change[field]
      if (given === undefined) return
      const isEscalation = field === 'escalation_actions'
      const rows = stored.filter(({ is_escalation }) => is_escalation === isEscalation)
      for (const [id, secret] of await saveActions(tx, app, { ...of, isEscalation, field }, rows, given))
        secrets.set(id, secret)
    }
    await save('actions')
    await save('escalation_actions')
    const isOtherCondition = isOther || !isDeepStrictEqual(conditions, before)
    await changeRule(tx, ruleId, {
      name: change.name,
      trigger_type: trigger,
      conditions: JSON.stringify(conditions),
      enabled: change.enabled,
      cooldown_minutes: change.cooldown_minutes,
      escalate_after_minutes: escalateAfter,
      close_with_issue: change.close_with_issue,
      updated_at: context.at,
    })
    if (isOtherCondition || change.enabled === false)
      await endAlerts(tx, app, context, await lockOpenOfRules(tx, [ruleId]), {
        state: 'resolved',
        reason: change.enabled === false ? 'The rule was turned off.' : 'The rule was changed.',
      })
    const fields = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    if (fields.length > 0)
      await recordFacts(tx, context, [
        {
          kind: 'alert_rule.updated',
          orgId: actor.orgId,
          projectId: rule.project_id,
          targetId: ruleId,
          label: change.name ?? rule.name,
          data: { fields },
        },
      ])
    return viewRule(tx, actor, ruleId, secrets)
  })
}
