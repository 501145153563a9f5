import type { Ref } from 'react'
import { PasswordField, ratePassword } from '../../../forms/password-field.tsx'

type NewPasswordProps = {
  label: string
  value: string
  /** Whether the form was sent: then a password that is too short is an error, before that a hint. */
  tried: boolean
  refusal?: string | undefined
  autoFocus?: boolean
  ref?: Ref<HTMLInputElement>
  onChange: (password: string) => void
}

/** A password that the user chooses, with its strength in words. */
export function NewPassword({ label, value, tried, refusal, autoFocus = false, ref, onChange }: NewPasswordProps) {
  const strength = ratePassword(value)
  return (
    <PasswordField
      ref={ref}
      label={label}
      autoComplete="new-password"
      autoFocus={autoFocus}
      value={value}
      hint={strength.text}
      error={tried && !strength.enough ? strength.text : refusal}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
