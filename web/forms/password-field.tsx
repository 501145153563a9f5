import { useState, type ComponentProps, type ReactNode } from 'react'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { appTexts } from '../app/texts.ts'
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
          aria-label={shown ? appTexts.hidePassword : appTexts.showPassword}
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
  if (letters.length === 0) return { enough: false, text: appTexts.passwordHint }
  if (letters.length < SHORTEST) return { enough: false, text: appTexts.strength.short(SHORTEST - letters.length) }
  const different = new Set(letters.map((letter) => letter.toLowerCase())).size
  if (different < 5 || /^(?:\d+|[a-z]+\d{0,2})$/i.test(password)) {
    return {
      enough: true,
      text: letters.length >= 20 && different >= 8 ? appTexts.strength.fair : appTexts.strength.weak,
    }
  }
  return { enough: true, text: letters.length >= 14 ? appTexts.strength.strong : appTexts.strength.fair }
}
