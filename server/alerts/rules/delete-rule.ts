import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { endAlerts } from './end-alerts.ts'
import { lockOpenOfRules } from './fired.queries.ts'
import { changeRule, lockRule } from './rules.queries.ts'

/**
 * Deletes a rule: its open alerts are resolved, the history stays. Its actions are kept for a day, so that pages are
 * resolved (`keep-alerts.ts`).
 * @throws AppError not_found
 */
export async function deleteRule(app: App, actor: OrgActor, ruleId: string): Promise<void> {
  await app.tx(async (tx) => {
    const rule = await lockRule(tx, actor, ruleId)
    if (rule === undefined) throw notFound('Alert rule')
    const context = factContext(app, actor)
    await endAlerts(tx, app, context, await lockOpenOfRules(tx, [ruleId]), {
      state: 'resolved',
      reason: 'The rule was deleted.',
    })
    await changeRule(tx, ruleId, { enabled: false, deleted_at: context.at })
    await recordFacts(tx, context, [
      {
        kind: 'alert_rule.deleted',
        orgId: actor.orgId,
        projectId: rule.project_id,
        targetId: ruleId,
        label: rule.name,
        data: { name: rule.name },
      },
    ])
  })
}
