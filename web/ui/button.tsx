import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'
import { Kbd } from './kbd.tsx'

export type ButtonLook = 'plain' | 'primary' | 'ghost' | 'danger'
export type ButtonSize = 'sm' | 'md' | 'lg'

/** Class names of a button, also for links that look like one. */
export function buttonClass(look: ButtonLook = 'plain', size: ButtonSize = 'md', extra?: string): string {
  const names = ['btn']
  if (look !== 'plain') names.push(`btn-${look}`)
  if (size !== 'md') names.push(`btn-${size}`)
  if (extra !== undefined) names.push(extra)
  return names.join(' ')
}

type Shared = {
  look?: ButtonLook
  size?: ButtonSize
  /** Why it cannot be pressed now: the button stays reachable and says so. */
  why?: string | undefined
  /** Something it started is under way; it keeps its width and takes no second press. */
  busy?: boolean | undefined
}

export type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> &
  Shared & {
    icon?: IconName | undefined
    /** A letter of the keyboard registry, shown on the button. */
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
      className={buttonClass(look, size, className)}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      <span>{children}</span>
      {keys === undefined ? null : <Kbd keys={keys} />}
      {caret ? <Icon name="down" className="caret" /> : null}
      {busy === true ? <span className="busy spin" /> : null}
    </button>
  )
}

export type IconButtonProps = Omit<ComponentProps<'button'>, 'disabled' | 'children'> &
  Shared & {
    icon: IconName
    /** Spoken name and tooltip. */
    label: string
    keys?: string | undefined
  }

export function IconButton({ look, size, why, busy, icon, label, keys, className, ...rest }: IconButtonProps) {
  const classes = buttonClass(look, size, className === undefined ? 'btn-icon' : `btn-icon ${className}`)
  const title = why ?? (keys === undefined ? label : `${label} (${keys.toUpperCase()})`)
  return (
    <button
      type="button"
      {...rest}
      {...stillness(why, busy, rest.onClick)}
      aria-label={label}
      title={title}
      className={classes}
    >
      <Icon name={icon} />
      {busy === true ? <span className="busy spin" /> : null}
    </button>
  )
}

type Click = (event: MouseEvent<HTMLButtonElement>) => void

/** A still button keeps its focus and its tooltip, so `disabled` is never used; presses are swallowed. */
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
