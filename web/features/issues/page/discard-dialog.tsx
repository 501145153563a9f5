import { useState, type SyntheticEvent } from 'react'
import { useDiscard } from './merging.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { mergeTexts } from './merge-texts.ts'

type DiscardDialogProps = { issue: IssueDetail; onClose: () => void; onGone: () => void }

/** Confirms discarding an issue by typing. */
export function DiscardDialog({ issue, onClose, onGone }: DiscardDialogProps) {
  const [typed, setTyped] = useState('')
  const discard = useDiscard(issue, onGone)
  const ready = typed.trim().toLowerCase() === mergeTexts.discardConfirmation
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (ready && !discard.isPending) discard.mutate(issue)
  }
  return (
    <Dialog open onClose={onClose} title={mergeTexts.discardTitle(issue.short_id)}>
      <p>{mergeTexts.discardText(issue.event_count)}</p>
      <form onSubmit={submit}>
        <Field
          label={mergeTexts.discardLabel}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={(event) => setTyped(event.target.value)}
        />
        <Toolbar align="end">
          <Button onClick={onClose}>{mergeTexts.cancel}</Button>
          <Button
            look="danger"
            type="submit"
            busy={discard.isPending}
            why={ready ? undefined : mergeTexts.discardLabel}
          >
            {mergeTexts.discardRun}
          </Button>
        </Toolbar>
      </form>
    </Dialog>
  )
}
