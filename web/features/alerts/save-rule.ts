import { alertRuleQuery, type AlertRule } from '../../api/alert-queries.ts'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { builderTexts } from './builder-texts.ts'
import { ruleChangeBody, newRuleBody, type RuleDraft } from './rule-draft.ts'

/** Saves a rule: makes it, or sends what changed. */
export function useSaveRule(rule: AlertRule | null) {
  return useChange({
    send: async (draft: RuleDraft): Promise<AlertRule> => {
      if (rule === null) return call('POST /api/alerts', { body: newRuleBody(draft) })
      const body = ruleChangeBody(draft, rule)
      if (body === null) return rule
      return call('PATCH /api/alerts/:ruleId', { params: { ruleId: rule.id }, body })
    },
    same: () => 'save',
    touches: () => [['alerts']],
    settle: (client, saved) => client.setQueryData(alertRuleQuery(saved.id).queryKey, saved),
    said: () => (rule === null ? builderTexts.createdToast : builderTexts.savedToast),
    // The form shows it.
    failed: null,
  })
}
