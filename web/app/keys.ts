import { useEffect, useEffectEvent, useId, useSyncExternalStore } from 'react'
import { currentPrefs } from './prefs.ts'

/**
 * The keyboard registry. Pages register their shortcuts; the sheet (`?`) and the palette list them. Letters do not work
 * in fields, while a menu or dialog is open, or when switched off in Appearance.
 */

export type KeyBinding = {
  /** `r`, `shift+j`, `mod+k` (Ctrl or ⌘), `g i` (one after the other), `?`. */
  keys: string
  label: string
  group: KeyGroup
  run: () => void
  /** Works in fields too. */
  whileTyping?: boolean
  /** Not listed in the palette, such as moving the cursor. */
  sheetOnly?: boolean
  /** Repeats while the key is held down. Not for changes of data. */
  repeats?: boolean
}

export const KEY_GROUPS = ['General', 'Go to', 'Issues', 'Issue', 'Page'] as const
export type KeyGroup = (typeof KEY_GROUPS)[number]

const SEQUENCE_MS = 1200

/** The fields of a keyboard event that the matcher uses. */
export type Stroke = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

/** The chord of a stroke, as in bindings; null for lone modifiers, dead keys and AltGr characters. */
export function toChord(stroke: Stroke): string | null {
  const { key } = stroke
  if (stroke.altKey || key === 'Dead' || ['Shift', 'Control', 'Meta', 'Alt', 'AltGraph', 'CapsLock'].includes(key))
    return null
  const name = key.toLowerCase()
  // A sign such as ? needs Shift on some keyboards only, so Shift is left out.
  const shift = stroke.shiftKey && (name.length > 1 || /\p{L}/u.test(name)) ? 'shift+' : ''
  return `${stroke.ctrlKey || stroke.metaKey ? 'mod+' : ''}${shift}${name}`
}

/** Returns a function that finds the binding of each chord. The keys of a sequence must follow within 1.2 s. */
export function makeMatcher<T extends { keys: string }>() {
  let pending: { chord: string; at: number } | null = null
  return (chord: string, atMs: number, bindings: readonly T[]): T | undefined => {
    const before = pending !== null && atMs - pending.at <= SEQUENCE_MS ? pending.chord : null
    pending = null
    // The newest registration wins: a page before the shell, a panel before its page.
    const sequence = before === null ? undefined : bindings.findLast((binding) => binding.keys === `${before} ${chord}`)
    if (sequence !== undefined) return sequence
    if (bindings.some((binding) => binding.keys.startsWith(`${chord} `))) {
      pending = { chord, at: atMs }
      return undefined
    }
    return bindings.findLast((binding) => binding.keys === chord)
  }
}

/** Whether a binding has only characters (WCAG 2.1.4: such bindings can be switched off). */
export const isLetterBinding = (keys: string): boolean =>
  keys.split(' ').every((chord) => Array.from(chord.replace('shift+', '')).length === 1)

let layers: readonly { id: string; bindings: readonly KeyBinding[] }[] = []
let all: readonly KeyBinding[] = []
const listeners = new Set<() => void>()

function setLayers(next: typeof layers): void {
  layers = next
  all = layers.flatMap((layer) => layer.bindings)
  for (const listener of listeners) listener()
}

/** Registers keys while the component is mounted. The functions may change with every render. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const id = useId()
  // Register again only if something changes that the sheet shows.
  const shape = bindings
    .map(({ keys, label, group, whileTyping, sheetOnly }) => [keys, label, group, whileTyping, sheetOnly].join('|'))
    .join('\n')
  const run = useEffectEvent((keys: string) => bindings.find((binding) => binding.keys === keys)?.run())
  const register = useEffectEvent(() => {
    const stable = bindings.map((binding) => ({ ...binding, run: () => run(binding.keys) }))
    setLayers([...layers, { id, bindings: stable }])
  })
  useEffect(() => {
    register()
    return () => setLayers(layers.filter((layer) => layer.id !== id))
  }, [id, shape])
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The registered bindings; of several with the same keys, the newest. */
export function useRegisteredKeys(): readonly KeyBinding[] {
  const bindings = useSyncExternalStore(subscribe, () => all)
  return bindings.filter((binding, index) => bindings.findLastIndex((other) => other.keys === binding.keys) === index)
}

const match = makeMatcher<KeyBinding>()

const isTyping = (target: Element): boolean =>
  target.closest(
    'textarea, select, [contenteditable="true"], input:not([type="checkbox"], [type="radio"], [type="button"])',
  ) !== null

/** Whether the element handles Enter itself. */
const isPressable = (target: Element): boolean =>
  target.closest('a[href], button, summary, [role="option"], [role="slider"]') !== null

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const chord = toChord(event)
  const target = event.target instanceof Element ? event.target : document.body
  if (chord === null || (chord === 'enter' && isPressable(target))) return
  if (document.querySelector('dialog[open], [role="menu"], [data-popover]') !== null) return
  const typing = isTyping(target)
  const { letterKeys } = currentPrefs()
  const usable = all.filter(
    (binding) => (!typing || binding.whileTyping === true) && (letterKeys || !isLetterBinding(binding.keys)),
  )
  const binding = match(chord, event.timeStamp, usable)
  if (binding === undefined) return
  event.preventDefault()
  if (!event.repeat || binding.repeats === true) binding.run()
}

/** Starts listening, once for the whole page. Returns a function that stops it. */
export function startKeys(): () => void {
  document.addEventListener('keydown', onKeyDown)
  return () => document.removeEventListener('keydown', onKeyDown)
}
