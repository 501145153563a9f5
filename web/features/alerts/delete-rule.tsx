import { ConfirmDialog } from '../../forms/confirm-dialog.tsx'
import { useNavigate } from '@tanstack/react-router'
import type { AlertRule } from '../../api/alert-queries.ts'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { paths } from '../../address/paths.ts'
import { builderTexts as texts } from './builder-texts.ts'

type DeleteRuleProps = { rule: AlertRule; onDeleted: () => void; onClose: () => void }

/** Confirms the deletion of a rule. */
export function DeleteRule({ rule, onDeleted, onClose }: DeleteRuleProps) {
  const navigate = useNavigate()
  const remove = useChange({
    send: () => call('DELETE /api/alerts/:ruleId', { params: { ruleId: rule.id } }),
    same: () => rule.id,
    touches: () => [
      ['alerts', 'rules'],
      ['alerts', 'fired'],
      ['alerts', 'recent'],
    ],
    said: () => texts.deleted,
    failed: texts.notDeleted,
  })
  const submit = () =>
    remove.mutate(undefined, {
      onSuccess: () => {
        onDeleted()
        void navigate({ ...paths.alertRules(), replace: true })
      },
      onError: onClose,
    })
  return (
    <ConfirmDialog
      title={texts.deleteTitle}
      text={texts.deleteText(rule.name)}
      submit={texts.delete}
      isBusy={remove.isPending}
      onConfirm={submit}
      onClose={onClose}
    />
  )
}
