import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { endSession } from '../../../api/session.ts'
import type { TeamMember } from '../../../api/team-queries.ts'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Note } from '../../../ui/note.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
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
    <Dialog open onClose={onClose} title={isOwn ? texts.ownTitle : texts.title(member.name)}>
      <p>{isOwn ? texts.ownText : texts.text}</p>
      {remove.error === null ? null : (
        <Note tone="red" icon="warn" role="alert">
          {errorSentence(remove.error)}
        </Note>
      )}
      <Toolbar align="end">
        <Button data-autofocus onClick={onClose}>
          {appTexts.cancel}
        </Button>
        <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate(undefined, { onSuccess })}>
          {isOwn ? texts.ownSubmit : texts.submit}
        </Button>
      </Toolbar>
    </Dialog>
  )
}
