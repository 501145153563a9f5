import { TypedConfirm } from '../../forms/typed-confirm.tsx'
import type { Issue } from '../../api/issue-queries.ts'
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
  const events = issues.reduce((sum, issue) => sum + issue.event_count, 0)
  const count = total ?? issues.length
  return (
    <TypedConfirm
      title={changeTexts.deleteTitle(count, issues[0]?.short_id ?? '')}
      text={
        total !== undefined
          ? changeTexts.deleteTextAll
          : count === 1
            ? changeTexts.deleteText(events)
            : changeTexts.deleteTextMany(events)
      }
      word={changeTexts.deleteConfirmation(count)}
      submit={changeTexts.delete}
      isBusy={false}
      onConfirm={onDelete}
      onClose={onClose}
    />
  )
}
