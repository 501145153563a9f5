import { ConfirmDialog } from '../../../forms/confirm-dialog.tsx'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { ssoConfigQuery } from '../../../api/sso-queries.ts'
import { ssoTexts } from './texts.ts'

const texts = ssoTexts.removal

export function RemoveDialog({ onClose }: { onClose: () => void }) {
  const remove = useChange({
    send: () => call('DELETE /api/auth/sso/config'),
    same: () => 'remove',
    touches: () => [ssoConfigQuery.queryKey],
    said: () => texts.done,
    failed: texts.failed,
  })
  return (
    <ConfirmDialog
      title={texts.title}
      text={texts.text}
      submit={texts.submit}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(undefined, { onSettled: onClose })}
      onClose={onClose}
    />
  )
}
