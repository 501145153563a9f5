import type { ReactNode, SubmitEvent } from 'react'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { Card } from '../../../ui/card.tsx'
import { FormRow } from '../../../ui/form.tsx'
import styles from '../../../frames/settings.module.css'

type FormCardProps = {
  title: string
  dirty: boolean
  busy: boolean
  why: string | undefined
  onSave: () => void
  onDiscard: () => void
  children: ReactNode
}

/** A card with a form that is saved separately. */
export function FormCard({ title, dirty, busy, why, onSave, onDiscard, children }: FormCardProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    onSave()
  }
  return (
    <Card as="form" onSubmit={submit} noValidate title={title}>
      <FormRow className={styles.body}>{children}</FormRow>
      <SaveFoot dirty={dirty} busy={busy} why={why} onSave={onSave} onDiscard={onDiscard} />
    </Card>
  )
}
