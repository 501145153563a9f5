import { useId, type ReactNode, type SubmitEvent } from 'react'
import { Button } from '../ui/button.tsx'
import { settings } from '../words/settings.ts'
import { shared } from '../words/shared.ts'

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
        <span className="sp" />
        {dirty ? <span className="sub">{settings.unsaved}</span> : null}
        <Button
          type="submit"
          size="sm"
          look={dirty ? 'primary' : 'plain'}
          busy={busy}
          why={why ?? (dirty ? undefined : shared.saved)}
        >
          {settings.save}
        </Button>
      </header>
      <div className="gridk card-b">{children}</div>
    </form>
  )
}
