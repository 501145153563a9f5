import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react'
import { Icon, type IconName } from './icon.tsx'
import { Kbd } from './kbd.tsx'
import { uiTexts } from './texts.ts'

export type Toast = {
  text: string
  icon?: IconName
  /** Failures stay until closed and are announced at once. */
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

/** Shows a sentence at the foot of the page; the oldest gives way to a fourth. Returns what takes it away. */
export function addToast(toast: Toast): () => void {
  const id = nextId++
  show([...shown, { ...toast, id }].slice(-MOST))
  return () => show(shown.filter((other) => other.id !== id))
}

/** Runs the Undo of the newest toast that has one (`Z`). Returns whether there was one. */
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

/** Where toasts appear. Two live regions, because failures interrupt and successes do not. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown)
  const row = (toast: Shown) => (
    <ToastRow key={toast.id} toast={toast} onGone={() => show(shown.filter((other) => other.id !== toast.id))} />
  )
  return (
    <div className="toasts" data-toasts>
      <div role="status" className="toasts-in">
        {toasts.filter((toast) => toast.tone !== 'bad').map(row)}
      </div>
      <div role="alert" className="toasts-in">
        {toasts.filter((toast) => toast.tone === 'bad').map(row)}
      </div>
    </div>
  )
}

function ToastRow({ toast, onGone }: { toast: Shown; onGone: () => void }) {
  const [held, setHeld] = useState(false)
  const gone = useEffectEvent(onGone)
  const stays = toast.tone === 'bad'

  useEffect(() => {
    if (held || stays) return undefined
    const timer = setTimeout(() => gone(), LIFE_MS)
    return () => clearTimeout(timer)
  }, [held, stays])

  const icon = toast.icon ?? (toast.tone === 'bad' ? 'warn' : toast.tone === 'good' ? 'st-resolved' : 'info')
  const colour = toast.tone === 'bad' ? 'c-red' : toast.tone === 'good' ? 'c-green' : undefined
  return (
    <div
      className="toast"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={icon} className={colour} />
      <span>{toast.text}</span>
      {toast.action === undefined ? null : (
        <>
          <button
            className="link-t"
            type="button"
            onClick={() => {
              onGone()
              toast.action?.run()
            }}
          >
            {toast.action.label}
          </button>
          {toast.action.keys === undefined ? null : <Kbd keys={toast.action.keys} />}
        </>
      )}
      {stays ? (
        <button className="ib" type="button" aria-label={uiTexts.close} onClick={onGone}>
          <Icon name="x" />
        </button>
      ) : null}
    </div>
  )
}
