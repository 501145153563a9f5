import { ConfirmDialog } from '../../../forms/confirm-dialog.tsx'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { apiKeysQuery, type ApiKey } from '../../../api/team-queries.ts'
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
    <ConfirmDialog
      title={texts.title(apiKey.name)}
      text={texts.text}
      submit={texts.submit}
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate(undefined, { onSettled: onClose })}
      onClose={onClose}
    />
  )
}
