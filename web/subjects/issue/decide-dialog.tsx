import { serviceNow } from '../../ui/clock.ts'
import { DialogFoot } from '../../forms/dialog-foot.tsx'
import { useState, type SyntheticEvent } from 'react'
import type { Edit } from './changes.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { useNow } from '../../ui/now.ts'
import { decideTexts } from './decide-texts.ts'
import type { Ask } from './decide.tsx'
import { parseDecision, initialFieldValue } from './decide-model.ts'
import styles from './decide-dialog.module.css'

type Props = { ask: Ask; release: string | null; onClose: () => void; onEdit: (edit: Edit) => void }

/** A dialog with one or two fields. Errors are shown from the first attempt to submit. */
export function IssueDecideDialog({ ask, release, onClose, onEdit }: Props) {
  const [value, setValue] = useState(() => initialFieldValue(ask, release, new Date(serviceNow())))
  const [window, setWindow] = useState('')
  const now = useNow('half-minute')
  const [tried, setTried] = useState(false)
  const decision = parseDecision(ask, value, window, new Date(now))
  const error = tried && 'error' in decision ? decision : null
  const counts = ask === 'count' || ask === 'users'

  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    setTried(true)
    if (!('error' in decision)) onEdit(decision)
  }
  return (
    <Dialog open onClose={onClose} title={decideTexts.titles[ask]}>
      <form onSubmit={submit} noValidate className={styles.decide}>
        <Field
          label={decideTexts.labels[ask]}
          hint={decideTexts.hints[ask]}
          value={value}
          type={ask === 'time' ? 'datetime-local' : 'text'}
          inputMode={counts ? 'numeric' : undefined}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          error={error?.field === 'value' ? error.error : undefined}
          onChange={(event) => setValue(event.target.value)}
        />
        {counts ? (
          <Field
            label={decideTexts.window}
            hint={decideTexts.windowHint}
            value={window}
            inputMode="numeric"
            autoComplete="off"
            error={error?.field === 'window' ? error.error : undefined}
            onChange={(event) => setWindow(event.target.value)}
          />
        ) : null}
        <DialogFoot
          onClose={onClose}
          submit={ask === 'release' || ask === 'commit' ? decideTexts.resolve : decideTexts.ignore}
        />
      </form>
    </Dialog>
  )
}
