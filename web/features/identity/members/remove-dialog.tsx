import { ErrorNote } from '../../../forms/error-note.tsx'
import { ConfirmDialog } from '../../../forms/confirm-dialog.tsx'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { endSession } from '../../../api/session.ts'
import type { TeamMember } from '../../../api/team-queries.ts'
import { membersTexts } from './texts.ts'

const texts = membersTexts.removal

type RemoveDialogProps = { member: TeamMember; isOwn: boolean; onClose: () => void }

/** Confirms that a member is removed, or leaves. */
export function RemoveDialog({ member, isOwn, onClose }: RemoveDialogProps) {
  const remove = useChange({
    send: () => call('DELETE /api/team/:memberId', { params: { memberId: member.id } }),
    same: () => member.id,
    touches: () => (isOwn ? [] : [['team']]),
    said: () => (isOwn ? texts.ownDone : texts.done(member.name)),
    // Shown in the dialog, such as that the last owner stays.
    failed: null,
  })
  const onSuccess = () => {
    onClose()
    if (isOwn) endSession({ left: true, reason: null })
  }
  return (
    <ConfirmDialog
      title={isOwn ? texts.ownTitle : texts.title(member.name)}
      text={isOwn ? texts.ownText : texts.text}
      submit={isOwn ? texts.ownSubmit : texts.submit}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(undefined, { onSuccess })}
      onClose={onClose}
    >
      <ErrorNote error={remove.error} />
    </ConfirmDialog>
  )
}
