import { memberBehind, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid, notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { completeConditions } from './conditions.ts'
import type { AlertRule, NewRule } from './rule.api.ts'
import { countRules, insertRule, lockProjectForRules } from './rules.queries.ts'
import { saveActions } from './save-actions.ts'
import { viewRule } from './view-rule.ts'

/** More than any team reads. Evaluating them all takes a fraction of the minute. */
export const MAX_RULES_PER_PROJECT = 200

/** @throws AppError not_found (project), invalid (conditions, actions), conflict (too many) */
export async function createRule(app: App, actor: OrgActor, input: NewRule): Promise<AlertRule> {
  const { orgId } = actor
  const conditions = completeConditions(input.trigger_type, input.conditions)
  requireEscalation(input.escalate_after_minutes, input.escalation_actions.length)
  return app.tx(async (tx) => {
    if (!(await lockProjectForRules(tx, orgId, input.projectId))) throw notFound('Project')
    if ((await countRules(tx, actor, input.projectId)) >= MAX_RULES_PER_PROJECT)
      throw conflict(`The project has ${MAX_RULES_PER_PROJECT} alert rules, the maximum. Delete one first.`)
    const id = newId()
    const context = factContext(app, actor)
    await insertRule(tx, {
      id,
      org_id: orgId,
      project_id: input.projectId,
      name: input.name,
      trigger_type: input.trigger_type,
      conditions: JSON.stringify(conditions),
      enabled: input.enabled,
      cooldown_minutes: input.cooldown_minutes,
      escalate_after_minutes: input.escalate_after_minutes,
      close_with_issue: input.close_with_issue,
      created_by: memberBehind(actor)?.userId ?? null,
      created_at: context.at,
      updated_at: context.at,
    })
    const of = { orgId, ruleId: id }
    const secrets = new Map([
      ...(await saveActions(tx, app, { ...of, isEscalation: false, field: 'actions' }, [], input.actions)),
      ...(await saveActions(
        tx,
        app,
        { ...of, isEscalation: true, field: 'escalation_actions' },
        [],
        input.escalation_actions,
      )),
    ])
    await recordFacts(tx, context, [
      {
        kind: 'alert_rule.created',
        orgId,
        projectId: input.projectId,
        targetId: id,
        label: input.name,
        data: { name: input.name },
      },
    ])
    return viewRule(tx, actor, id, secrets)
  })
}

/** @throws AppError invalid when there are actions that would never be sent, or a time without actions */
export function requireEscalation(afterMinutes: number | null, actions: number): void {
  if (afterMinutes === null && actions > 0)
    throw invalid('escalate_after_minutes is missing: escalation_actions are sent after that time.')
  if (afterMinutes !== null && actions === 0)
    throw invalid('escalation_actions is empty: say what is sent after escalate_after_minutes.')
}
