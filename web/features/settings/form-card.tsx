import { useId, type ReactNode, type SubmitEvent } from 'react'
import { SaveState } from './form.tsx'
import styles from '../../common/settings.module.css'

type FormCardProps = {
  title: string
  dirty: boolean
  busy: boolean
  why: string | undefined
  onSave: () => void
  children: ReactNode
}

/** A card that is saved for itself and says when it is not. */
export function FormCard({ title, dirty, busy, why, onSave, children }: FormCardProps) {
  const headingId = useId()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    onSave()
  }
  return (
    <form className="card" aria-labelledby={headingId} onSubmit={submit} noValidate>
      <header className="card-h">
        <h2 id={headingId}>{title}</h2>
        <SaveState dirty={dirty} busy={busy} why={why} />
      </header>
      <div className={`gridk ${styles.body}`}>{children}</div>
    </form>
  )
}
