import { useQueryClient } from '@tanstack/react-query'
import { alertRuleQuery, type AlertRule } from '../../api/alert-queries.ts'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { builderTexts } from './builder-texts.ts'
import { ruleChangeBody, newRuleBody, toRuleDraft, type RuleDraft } from './rule-draft.ts'

/** Saves a rule; `onSuccess` receives it and the draft that it now is. */
export function useSaveRule(rule: AlertRule | null) {
  const client = useQueryClient()
  const save = useChange({
    send: async (draft: RuleDraft): Promise<AlertRule> => {
      if (rule === null) return call('POST /api/alerts', { body: newRuleBody(draft) })
      const body = ruleChangeBody(draft, rule)
      if (body === null) return rule
      return call('PATCH /api/alerts/:ruleId', { params: { ruleId: rule.id }, body })
    },
    same: () => 'save',
    touches: () => [['alerts']],
    said: () => (rule === null ? builderTexts.createdToast : builderTexts.savedToast),
    // The form shows it.
    failed: null,
  })
  const mutate = (draft: RuleDraft, then: { onSuccess: (saved: AlertRule, fresh: RuleDraft) => void }) =>
    save.mutate(draft, {
      onSuccess: (saved) => {
        client.setQueryData(alertRuleQuery(saved.id).queryKey, saved)
        then.onSuccess(saved, toRuleDraft(saved))
      },
    })
  return { mutate, reset: save.reset, error: save.error, isPending: save.isPending }
}
