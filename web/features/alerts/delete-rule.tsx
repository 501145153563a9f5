import { useNavigate } from '@tanstack/react-router'
import type { AlertRule } from '../../api/alert-queries.ts'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { paths } from '../../address/paths.ts'
import { appTexts } from '../../app/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Toolbar } from '../../ui/stack.tsx'
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
    <Dialog open onClose={onClose} title={texts.deleteTitle}>
      <p>{texts.deleteText(rule.name)}</p>
      <Toolbar align="end">
        <Button data-autofocus onClick={onClose}>
          {appTexts.cancel}
        </Button>
        <Button look="danger" busy={remove.isPending} onClick={submit}>
          {texts.delete}
        </Button>
      </Toolbar>
    </Dialog>
  )
}
