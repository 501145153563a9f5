import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react'
import { classNames } from './class-names.ts'
import floatingStyles from './floating.module.css'
import { Icon, type IconName } from './icon.tsx'
import { Kbd } from './kbd.tsx'
import { TextButton } from './text-button.tsx'
import styles from './toasts.module.css'
import { uiTexts } from './texts.ts'
import typeStyles from './type.module.css'

export type Toast = {
  text: string
  icon?: IconName
  /** Errors stay until closed and are announced immediately. */
  tone?: 'good' | 'plain' | 'bad'
  action?: { label: string; keys?: string; run: () => void }
}

type Shown = Toast & { id: number }

const MOST = 3
const LIFE_MS = 6000

let shown: readonly Shown[] = []
let nextId = 1
const listeners = new Set<() => void>()

function show(next: readonly Shown[]): void {
  shown = next
  for (const listener of listeners) listener()
}

/** Shows a toast; at most three are visible. Returns a function that removes it. */
export function addToast(toast: Toast): () => void {
  const id = nextId++
  show([...shown, { ...toast, id }].slice(-MOST))
  return () => show(shown.filter((other) => other.id !== id))
}

/** Runs the Undo of the newest toast that has one (`Z`); returns whether there was one. */
export function runNewestAction(): boolean {
  const toast = shown.findLast((candidate) => candidate.action?.keys === 'z')
  if (toast?.action === undefined) return false
  show(shown.filter((other) => other !== toast))
  toast.action.run()
  return true
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The container of toasts. Two live regions: errors interrupt a screen reader, successes do not. */
export function Toasts({ className }: { className?: string | undefined }) {
  const toasts = useSyncExternalStore(subscribe, () => shown)
  const keyed = toasts.findLast((toast) => toast.action?.keys !== undefined)
  const row = (toast: Shown) => (
    <ToastRow
      key={toast.id}
      toast={toast}
      hasKey={toast === keyed}
      onGone={() => show(shown.filter((other) => other.id !== toast.id))}
    />
  )
  return (
    <div className={classNames(styles.toasts, className)} data-toasts>
      <div className={styles.list}>
        <div role="status">{toasts.filter((toast) => toast.tone !== 'bad').map(row)}</div>
        <div role="alert">{toasts.filter((toast) => toast.tone === 'bad').map(row)}</div>
      </div>
    </div>
  )
}

type ToastRowProps = {
  toast: Shown
  /** Its key acts on this toast: several toasts may have the same key, which the newest answers to. */
  hasKey: boolean
  onGone: () => void
}

function ToastRow({ toast, hasKey, onGone }: ToastRowProps) {
  const [held, setHeld] = useState(false)
  const gone = useEffectEvent(onGone)
  const stays = toast.tone === 'bad'

  useEffect(() => {
    if (held || stays) return undefined
    const timer = setTimeout(() => gone(), LIFE_MS)
    return () => clearTimeout(timer)
  }, [held, stays])

  const icon = toast.icon ?? (toast.tone === 'bad' ? 'warn' : toast.tone === 'good' ? 'st-resolved' : 'info')
  const colour = toast.tone === 'bad' ? typeStyles.red : toast.tone === 'good' ? typeStyles.green : undefined
  return (
    <div
      className={classNames(floatingStyles.floating, floatingStyles.rising, styles.toast)}
      data-toast
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={icon} className={colour} />
      <span>{toast.text}</span>
      {toast.action === undefined ? null : (
        <>
          <TextButton
            onClick={() => {
              onGone()
              toast.action?.run()
            }}
          >
            {toast.action.label}
          </TextButton>
          {toast.action.keys === undefined || !hasKey ? null : <Kbd keys={toast.action.keys} />}
        </>
      )}
      {stays ? (
        <button className={styles.close} type="button" aria-label={uiTexts.close} onClick={onGone}>
          <Icon name="x" />
        </button>
      ) : null}
    </div>
  )
}
