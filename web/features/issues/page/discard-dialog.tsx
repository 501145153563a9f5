import type { IssueDetail } from '../../../api/issue-queries.ts'
import { TypedConfirm } from '../../../forms/typed-confirm.tsx'
import { mergeTexts } from './merge-texts.ts'
import { useDiscard } from './merging.ts'

type DiscardDialogProps = { issue: IssueDetail; onClose: () => void; onGone: () => void }

/** Confirms discarding an issue by typing. */
export function DiscardDialog({ issue, onClose, onGone }: DiscardDialogProps) {
  const discard = useDiscard(issue, onGone)
  return (
    <TypedConfirm
      title={mergeTexts.discardTitle(issue.short_id)}
      text={mergeTexts.discardText(issue.event_count)}
      word={mergeTexts.discardConfirmation}
      submit={mergeTexts.discardRun}
      isBusy={discard.isPending}
      onConfirm={() => discard.mutate(issue)}
      onClose={onClose}
    />
  )
}
