import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { MAX_VIEW_NAME_CHARACTERS } from '#shared/limits.ts'
import { useState, type SyntheticEvent } from 'react'
import { errorSentence } from '../../../api/change.ts'
import { toViewDraft, useViewChange, useViewCreate, type SavedView } from '../../../api/view-queries.ts'
import { useCan } from '../../../app/can.ts'
import type { IssuesSearch } from '../../../address/search.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { viewTexts } from './view-texts.ts'
import styles from './view-dialog.module.css'

type ViewDialogProps = {
  /** The view to edit; null for a new one. */
  view: SavedView | null
  search: IssuesSearch
  onClose: () => void
  onSaved: (view: SavedView) => void
}

/** Edits the name and sharing of a view. */
export function IssueViewDialog({ view, search, onClose, onSaved }: ViewDialogProps) {
  const [name, setName] = useState(view?.name ?? '')
  const [isShared, setShared] = useState(view?.is_shared ?? false)
  const create = useViewCreate((saved) => viewTexts.saved(saved.name))
  const change = useViewChange((saved) => viewTexts.saved(saved.name))
  const mayShare = useCan('issues.write')
  const { isPending } = view === null ? create : change
  const error = view === null ? create.error : change.error

  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (name.trim() === '') return
    const given = { name: name.trim(), is_shared: isShared }
    if (view === null) create.mutate({ ...given, ...toViewDraft(search) }, { onSuccess: onSaved })
    else change.mutate({ viewId: view.id, ...given }, { onSuccess: onSaved })
  }
  return (
    <Dialog open onClose={onClose} title={view === null ? viewTexts.saveTitle : viewTexts.editTitle}>
      <form onSubmit={submit}>
        <Field
          label={viewTexts.name}
          hint={viewTexts.nameHint}
          error={error === null ? undefined : errorSentence(error)}
          value={name}
          maxLength={MAX_VIEW_NAME_CHARACTERS}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setName(event.target.value)}
        />
        <Toolbar className={styles.viewshare}>
          <Switch label={viewTexts.share} checked={isShared} onChange={setShared} why={mayShare.why} />
          <span aria-hidden="true">{viewTexts.share}</span>
        </Toolbar>
        <DialogFoot
          onClose={onClose}
          submit={viewTexts.confirm}
          busy={isPending}
          why={name.trim() === '' ? viewTexts.name : undefined}
        />
      </form>
    </Dialog>
  )
}
