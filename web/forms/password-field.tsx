import { useState, type ComponentProps, type ReactNode } from 'react'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { formTexts } from './form-texts.ts'
import styles from './password-field.module.css'

type PasswordFieldProps = Omit<ComponentProps<'input'>, 'id' | 'type'> & {
  label: string
  /** At the end of the label's line, such as a link. */
  aside?: ReactNode
  hint?: ReactNode
  error?: string | undefined
}

/** A password field with a button that shows the password. */
export function PasswordField(props: PasswordFieldProps) {
  const [shown, setShown] = useState(false)
  return (
    <Field
      {...props}
      type={shown ? 'text' : 'password'}
      spellCheck={false}
      autoCapitalize="none"
      after={
        <button
          type="button"
          className={styles.show}
          aria-label={shown ? formTexts.hidePassword : formTexts.showPassword}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        >
          <Icon name="eye" />
        </button>
      }
    />
  )
}

const SHORTEST = 8

/** The strength of a new password, by length only. The server also checks a dictionary. */
export function ratePassword(password: string): { enough: boolean; text: string } {
  const letters = Array.from(password)
  if (letters.length === 0) return { enough: false, text: formTexts.passwordHint }
  if (letters.length < SHORTEST) return { enough: false, text: formTexts.strength.short(SHORTEST - letters.length) }
  const different = new Set(letters.map((letter) => letter.toLowerCase())).size
  if (different < 5 || /^(?:\d+|[a-z]+\d{0,2})$/i.test(password)) {
    return {
      enough: true,
      text: letters.length >= 20 && different >= 8 ? formTexts.strength.fair : formTexts.strength.weak,
    }
  }
  return { enough: true, text: letters.length >= 14 ? formTexts.strength.strong : formTexts.strength.fair }
}
