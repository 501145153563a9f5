import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { ssoConfigQuery } from '../../../api/sso-queries.ts'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
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
    <Dialog open onClose={onClose} title={texts.title}>
      <p>{texts.text}</p>
      <Toolbar align="end">
        <Button data-autofocus onClick={onClose}>
          {appTexts.cancel}
        </Button>
        <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate(undefined, { onSettled: onClose })}>
          {texts.submit}
        </Button>
      </Toolbar>
    </Dialog>
  )
}
