import { useId, useLayoutEffect, useRef, type MouseEvent, type ReactNode, type SyntheticEvent } from 'react'
import { classNames } from './class-names.ts'
import styles from './dialog.module.css'
import floatingStyles from './floating.module.css'

type DialogProps = {
  open: boolean
  /** Called on Escape, a press outside, or the platform's back gesture. */
  onClose: () => void
  /** The heading; with `bare` only the accessible name. */
  title: string
  children: ReactNode
  /** Without padding and heading. */
  bare?: boolean
  wide?: boolean
  className?: string
}

/**
 * The browser's modal dialog: it traps the focus, makes the page inert, and returns the focus when it closes. An element
 * with `data-autofocus` takes the focus first.
 */
export function Dialog({ open, onClose, title, children, bare = false, wide = false, className }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()

  useLayoutEffect(() => {
    const dialog = ref.current
    if (dialog === null || !open) return undefined
    if (!dialog.open) dialog.showModal()
    dialog.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    return () => dialog.close()
  }, [open])

  const onBackdrop = (event: MouseEvent<HTMLDialogElement>) => {
    if (event.target === event.currentTarget) onClose()
  }
  const onCancel = (event: SyntheticEvent<HTMLDialogElement>) => {
    event.preventDefault()
    onClose()
  }

  return (
    // Escape does the same as a press outside.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={ref}
      className={classNames(styles.dialog, floatingStyles.rising, className)}
      aria-labelledby={bare ? undefined : titleId}
      aria-label={bare ? title : undefined}
      onCancel={onCancel}
      onClick={onBackdrop}
    >
      {!open ? null : bare ? (
        children
      ) : (
        <div className={styles.body} data-wide={wide ? '' : undefined}>
          <h2 id={titleId}>{title}</h2>
          {children}
        </div>
      )}
    </dialog>
  )
}
