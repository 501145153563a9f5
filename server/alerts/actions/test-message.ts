import type { TriggerType, Unit } from '#shared/alert-rules.ts'
import { thresholdUnit } from '#shared/alert-rules.ts'
import type { AlertMessage } from '../rules/alert-message.ts'
import type { ConditionsInput } from '../rules/rule.api.ts'
import { memberBehind, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { shortId } from '#shared/issue-values.ts'
import { newId, newPrefixedId } from '../../platform/kernel/ids.ts'

export type TestedRule = {
  /** Null for a rule that is not saved. */
  readonly id: string | null
  readonly name: string
  readonly trigger: TriggerType
  readonly conditions: ConditionsInput
  readonly project: AlertMessage['data']['project']
}

/** A message marked as a test, with an example of an issue that is assigned to the caller. */
export function testMessage({ clock, config }: App, actor: OrgActor, rule: TestedRule): AlertMessage {
  const at = clock.now().toISOString()
  const member = memberBehind(actor)
  const url = rule.id === null ? `${config.publicUrl}/alerts` : `${config.publicUrl}/alerts/rules/${rule.id}`
  const unit: Unit | null = thresholdUnit(rule.trigger, rule.conditions)
  const threshold = unit === null ? null : (rule.conditions.threshold ?? null)
  return {
    id: newPrefixedId('evt'),
    type: 'alert.test',
    app_id: rule.project.id,
    user_id: member?.userId ?? '',
    occurred_at: at,
    data: {
      alert: {
        id: newId(),
        trigger_type: rule.trigger,
        title: `Test of ${rule.name}`,
        severity: 'low',
        value: threshold,
        unit,
        threshold,
        window_minutes: unit === null ? null : (rule.conditions.window_minutes ?? null),
        explanation: `This is a test${member === null ? '' : ` that ${member.name} sent`}. Nothing happened: the issue is an example.`,
        state: 'firing',
        fired_at: at,
        acknowledged_by: null,
        acknowledged_at: null,
        resolved_at: null,
        resolved_reason: null,
        url,
        is_test: true,
      },
      rule: { id: rule.id ?? newId(), name: rule.name, url },
      project: rule.project,
      issue: {
        id: newId(),
        short_id: shortId(rule.project.slug, 0),
        title: 'Example: something failed',
        culprit: '',
        level: 'error',
        status: 'unresolved',
        severity: 'low',
        assignee: member === null ? null : { id: member.userId, name: member.name },
        event_count: 1,
        user_count: 1,
        first_seen: at,
        last_seen: at,
        last_release: null,
        url,
      },
    },
  }
}
