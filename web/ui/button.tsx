import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { Icon, type IconName } from './icon.tsx'
import { Kbd } from './kbd.tsx'
import { Spinner } from './spinner.tsx'
import styles from './button.module.css'

export type ButtonLook = 'plain' | 'primary' | 'ghost' | 'danger'
export type ButtonSize = 'sm' | 'md' | 'lg'

type ButtonAppearance = {
  look?: ButtonLook | undefined
  size?: ButtonSize | undefined
  /** As wide as high, for an icon alone. */
  square?: boolean
  className?: string | undefined
}

/** Attributes that make an element look like a button; for links. */
export const buttonLook = ({ look = 'plain', size = 'md', square = false, className }: ButtonAppearance = {}) => ({
  className: classNames(styles.button, className),
  'data-look': look,
  'data-size': size,
  'data-square': square ? '' : undefined,
})

type Shared = {
  look?: ButtonLook
  size?: ButtonSize
  /** Why the button is disabled. It keeps the focus, and its tooltip shows the reason. */
  why?: string | undefined
  /** Its action is running: the button keeps its width and ignores presses. */
  busy?: boolean | undefined
}

export type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> &
  Shared & {
    icon?: IconName | undefined
    /** Its shortcut, shown on the button. */
    keys?: string | undefined
    caret?: boolean
    children: ReactNode
  }

export function Button({
  look,
  size,
  why,
  busy,
  icon,
  keys,
  caret = false,
  children,
  className,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      {...stillness(why, busy, rest.onClick)}
      title={why ?? rest.title}
      {...buttonLook({ look, size, className })}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      <span>{children}</span>
      {keys === undefined ? null : <Kbd keys={keys} />}
      {caret ? <Icon name="down" className={styles.caret} /> : null}
      {busy === true ? <Spinner className={styles.busy} /> : null}
    </button>
  )
}

export type IconButtonProps = Omit<ComponentProps<'button'>, 'disabled' | 'children'> &
  Shared & {
    icon: IconName
    /** Accessible name and tooltip. */
    label: string
    keys?: string | undefined
  }

export function IconButton({ look, size, why, busy, icon, label, keys, className, ...rest }: IconButtonProps) {
  const title = why ?? (keys === undefined ? label : `${label} (${keys.toUpperCase()})`)
  return (
    <button
      type="button"
      {...rest}
      {...stillness(why, busy, rest.onClick)}
      aria-label={label}
      title={title}
      {...buttonLook({ look, size, square: true, className })}
    >
      <Icon name={icon} />
      {busy === true ? <Spinner className={styles.busy} /> : null}
    </button>
  )
}

type Click = (event: MouseEvent<HTMLButtonElement>) => void

/** Ignores presses of a disabled button. `disabled` is not used, because it would remove focus and tooltip. */
function stillness(why: string | undefined, busy: boolean | undefined, onClick: Click | undefined) {
  if (why === undefined && busy !== true) return {}
  return {
    'aria-disabled': true,
    'aria-busy': busy === true ? true : undefined,
    'data-busy': busy === true ? '' : undefined,
    onClick: (event: MouseEvent<HTMLButtonElement>) => {
      event.preventDefault()
      event.stopPropagation()
      void onClick
    },
  }
}
