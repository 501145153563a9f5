import { useSyncExternalStore } from 'react'
import { setZone, type Zone } from '../ui/format.ts'

/** Preferences of this browser. `public/theme.js` applies those of the document too, before the first paint. */
export type Theme = 'system' | 'light' | 'dark'
export type Density = 'comfortable' | 'compact'
export type Motion = 'system' | 'reduced'
type Prefs = { theme: Theme; density: Density; motion: Motion; letterKeys: boolean; zone: Zone }

const PREFIX = 'faultline.'

function stored(key: string): string | null {
  try {
    return localStorage.getItem(PREFIX + key)
  } catch {
    return null
  }
}

function readPrefs(): Prefs {
  const theme = stored('theme')
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    density: stored('density') === 'compact' ? 'compact' : 'comfortable',
    motion: stored('motion') === 'reduced' ? 'reduced' : 'system',
    letterKeys: stored('letter-keys') !== 'off',
    zone: stored('zone') === 'utc' ? 'utc' : 'local',
  }
}

let prefs: Prefs = readPrefs()
const listeners = new Set<() => void>()

function apply(next: Prefs): void {
  prefs = next
  const { dataset } = document.documentElement
  if (next.theme === 'system') delete dataset.theme
  else dataset.theme = next.theme
  dataset.density = next.density
  dataset.motion = next.motion
  setZone(next.zone)
  for (const listener of listeners) listener()
}

/** Applies the stored preferences and follows changes in other tabs. Once, at the start. */
export function startPrefs(): void {
  apply(prefs)
  addEventListener('storage', ({ key }) => {
    if (key === null || key.startsWith(PREFIX)) apply(readPrefs())
  })
}

export function setPrefs(change: Partial<Prefs>): void {
  const next = { ...prefs, ...change }
  const { theme, density, motion, zone } = next
  try {
    for (const [key, value] of Object.entries({
      theme,
      density,
      motion,
      'letter-keys': next.letterKeys ? 'on' : 'off',
      zone,
    }))
      localStorage.setItem(PREFIX + key, value)
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
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
