import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { apiKeysQuery, type ApiKey } from '../../../api/team-queries.ts'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { apiKeysTexts } from './texts.ts'

const texts = apiKeysTexts.revocation

/** Confirms that a key is revoked: unlike other changes it cannot be undone. */
export function RevokeDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const revoke = useChange({
    send: () => call('DELETE /api/api-keys/:keyId', { params: { keyId: apiKey.id } }),
    same: () => apiKey.id,
    touches: () => [apiKeysQuery.queryKey],
    said: () => texts.done(apiKey.name),
    failed: texts.failed,
  })
  return (
    <Dialog open onClose={onClose} title={texts.title(apiKey.name)}>
      <p>{texts.text}</p>
      <Toolbar align="end">
        <Button data-autofocus onClick={onClose}>
          {appTexts.cancel}
        </Button>
        <Button look="danger" busy={revoke.isPending} onClick={() => revoke.mutate(undefined, { onSettled: onClose })}>
          {texts.submit}
        </Button>
      </Toolbar>
    </Dialog>
  )
}
