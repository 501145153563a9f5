import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { useState, type SyntheticEvent } from 'react'
import type { Issue } from '../../../api/issue-queries.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { FieldLegend } from '../../../ui/field.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { splitTitle } from '../../../subjects/issue/headline.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { bulkTexts } from './bulk-texts.ts'
import { issuesTexts } from './texts.ts'
import styles from './merge-into-dialog.module.css'
import typeStyles from '../../../ui/type.module.css'

type MergeIntoDialogProps = {
  issues: readonly Issue[]
  /** The issue that stays, unless another one is chosen. */
  into: Issue
  onClose: () => void
  onMerge: (into: Issue) => void
}

/** Names the issue that stays, before issues are merged. Enter merges. */
export function MergeIntoDialog({ issues, into, onClose, onMerge }: MergeIntoDialogProps) {
  const [chosen, setChosen] = useState(into)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    onMerge(chosen)
  }
  return (
    <Dialog open onClose={onClose} title={bulkTexts.mergeTitle(chosen.short_id)} wide>
      <p>{bulkTexts.mergeText}</p>
      <form onSubmit={submit}>
        <fieldset className={styles.issues}>
          <FieldLegend>{bulkTexts.mergeStays}</FieldLegend>
          {issues.map((issue) => (
            <label key={issue.id} className={classNames(styles.issue, choiceStyles.hovers)}>
              <input
                type="radio"
                name="into"
                checked={issue.id === chosen.id}
                onChange={() => setChosen(issue)}
                data-autofocus={issue.id === into.id ? '' : undefined}
              />
              <span className={classNames(styles.title, fitStyles.fills, fitStyles.ellipsis)}>
                <b>{splitTitle(issue).name}</b> {splitTitle(issue).rest}
              </span>
              <ShortId>{issue.short_id}</ShortId>
              <Minor className={typeStyles.figures}>{issuesTexts.events(issue.event_count)}</Minor>
            </label>
          ))}
        </fieldset>
        <DialogFoot onClose={onClose} submit={bulkTexts.mergeRun(issues.length)} />
      </form>
    </Dialog>
  )
}
