import type { TriggerType } from '#shared/alert-rules.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { Masked } from './action-config.ts'
import { unusedConditions } from './conditions.ts'
import { Action, AlertRule, ConditionsInput } from './rule.api.ts'
import { type ActionRow, type RuleRow, selectActions, selectRule } from './rules.queries.ts'
import type { MadeSecrets } from './save-actions.ts'
import type { App } from '../../platform/context/app.ts'

/** @throws AppError not_found */
export async function viewRule(
  db: Connection,
  actor: OrgActor,
  ruleId: string,
  secrets: MadeSecrets = new Map(),
): Promise<AlertRule> {
  const row = await selectRule(db, actor, ruleId)
  const [rule] = row === undefined ? [] : await viewRules(db, [row], secrets)
  if (rule === undefined) throw notFound('Alert rule')
  return rule
}

/** Rules with their actions, in the given order. */
export async function viewRules(
  db: Connection,
  rows: readonly RuleRow[],
  secrets: MadeSecrets = new Map(),
): Promise<AlertRule[]> {
  if (rows.length === 0) return []
  const actions = Map.groupBy(
    await selectActions(
      db,
      rows.map(({ id }) => id),
    ),
    ({ rule_id }) => rule_id,
  )
  return rows.map((row) => shown(row, actions.get(row.id) ?? [], secrets))
}

function shown(row: RuleRow, actions: readonly ActionRow[], secrets: MadeSecrets): AlertRule {
  const trigger = row.trigger_type as TriggerType
  const conditions = ConditionsInput.parse(row.conditions)
  const shownActions = (isEscalation: boolean) =>
    actions.filter(({ is_escalation }) => is_escalation === isEscalation).map((action) => shownAction(action, secrets))
  return AlertRule.parse({
    id: row.id,
    projectId: row.project_id,
    project: {
      id: row.project_id,
      name: row.project_name,
      slug: row.project_slug,
      platform: row.project_platform,
    },
    name: row.name,
    trigger_type: trigger,
    conditions,
    unused_conditions: unusedConditions(trigger, conditions),
    actions: shownActions(false),
    enabled: row.enabled,
    cooldown_minutes: row.cooldown_minutes,
    escalate_after_minutes: row.escalate_after_minutes,
    escalation_actions: shownActions(true),
    close_with_issue: row.close_with_issue,
    created_by: row.created_by === null || row.creator === null ? null : { id: row.created_by, name: row.creator },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    last_fired_at: row.last_fired_at?.toISOString() ?? null,
    firing_count: row.firing_count ?? 0,
  })
}

const shownAction = (row: ActionRow, secrets: MadeSecrets): Action => {
  const secret = secrets.get(row.id)
  return Action.parse({
    id: row.id,
    type: row.type,
    ...Masked.parse(row.masked),
    ...(row.type === 'email' ? { to: row.recipients } : {}),
    ...(secret === undefined ? {} : { secret }),
    last_status: row.last_status,
    last_attempt_at: row.last_attempt_at?.toISOString() ?? null,
    needs_attention: row.last_ok === false,
  })
}

/** Parts of the app that alerts need inside the transaction of a fact, whose subscribers have no app. */
export type AlertParts = Pick<App, 'sealer' | 'auditKey'> & { readonly config: Pick<App['config'], 'publicUrl'> }
