import { useState, type SyntheticEvent } from 'react'
import type { Issue } from '../../api/issue-queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Toolbar } from '../../ui/stack.tsx'
import { changeTexts } from './change-texts.ts'

type DeleteDialogProps = {
  issues: readonly Issue[]
  /** The number of issues, if not all of them are loaded. */
  total?: number | undefined
  onClose: () => void
  onDelete: () => void
}

/** Confirms a permanent deletion by typing. */
export function IssueDeleteDialog({ issues, total, onClose, onDelete }: DeleteDialogProps) {
  const [typed, setTyped] = useState('')
  const events = issues.reduce((sum, issue) => sum + issue.event_count, 0)
  const count = total ?? issues.length
  const word = changeTexts.deleteConfirmation(count)
  const ready = typed.trim().toLowerCase() === word

  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (ready) onDelete()
  }
  return (
    <Dialog open onClose={onClose} title={changeTexts.deleteTitle(count, issues[0]?.short_id ?? '')}>
      <p>
        {total !== undefined
          ? changeTexts.deleteTextAll
          : count === 1
            ? changeTexts.deleteText(events)
            : changeTexts.deleteTextMany(events)}
      </p>
      <form onSubmit={submit}>
        <Field
          label={changeTexts.deleteLabel(word)}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={(event) => setTyped(event.target.value)}
        />
        <Toolbar align="end">
          <Button onClick={onClose}>{changeTexts.cancel}</Button>
          <Button look="danger" type="submit" why={ready ? undefined : changeTexts.deleteLabel(word)}>
            {changeTexts.delete}
          </Button>
        </Toolbar>
      </form>
    </Dialog>
  )
}
