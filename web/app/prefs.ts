import { useSyncExternalStore } from 'react'
import { setZone, type Zone } from '../ui/format.ts'

/** Preferences of this browser. `public/theme.js` also reads the theme, before the first paint. */
export type Theme = 'system' | 'light' | 'dark'
export type Prefs = { theme: Theme; letterKeys: boolean; zone: Zone }

const THEME = 'faultline.theme'
const LETTERS = 'faultline.letter-keys'
const ZONE = 'faultline.zone'

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}

function readPrefs(): Prefs {
  const theme = stored(THEME)
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    letterKeys: stored(LETTERS) !== 'off',
    zone: stored(ZONE) === 'utc' ? 'utc' : 'local',
  }
}

let prefs: Prefs = readPrefs()
const listeners = new Set<() => void>()

function apply(next: Prefs): void {
  prefs = next
  if (next.theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = next.theme
  setZone(next.zone)
  for (const listener of listeners) listener()
}

/** Applies the stored preferences and follows changes in other tabs. Once, at the start. */
export function startPrefs(): void {
  apply(prefs)
  addEventListener('storage', (event) => {
    if (event.key === null || [THEME, LETTERS, ZONE].includes(event.key)) apply(readPrefs())
  })
}

export function setPrefs(change: Partial<Prefs>): void {
  const next = { ...prefs, ...change }
  store(THEME, next.theme)
  store(LETTERS, next.letterKeys ? 'on' : 'off')
  store(ZONE, next.zone)
  apply(next)
}

export const currentPrefs = (): Prefs => prefs

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const usePrefs = (): Prefs => useSyncExternalStore(subscribe, currentPrefs)

type ShownTheme = 'light' | 'dark'

const systemIsDark = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)')
const systemTheme = (): ShownTheme => (systemIsDark().matches ? 'dark' : 'light')
const shownTheme = (): ShownTheme => (prefs.theme === 'system' ? systemTheme() : prefs.theme)
const otherTheme = (): ShownTheme => (shownTheme() === 'dark' ? 'light' : 'dark')

function subscribeToTheme(listener: () => void): () => void {
  const stop = subscribe(listener)
  const query = systemIsDark()
  query.addEventListener('change', listener)
  return () => {
    stop()
    query.removeEventListener('change', listener)
  }
}

/** The theme that is not shown now, also while the system's theme changes. */
export const useOtherTheme = (): ShownTheme => useSyncExternalStore(subscribeToTheme, otherTheme)

/** Switches to the other theme; stores "system" if that is the system's theme. */
export function switchTheme(): void {
  const other = otherTheme()
  setPrefs({ theme: other === systemTheme() ? 'system' : other })
}
