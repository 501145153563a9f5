import { MAX_RELEASE_CHARACTERS } from '#shared/release-name.ts'
import { textField } from './fields.ts'
import type { Notes } from './notes.ts'
import { cut } from './strings.ts'

/** Release, environment and dist. An invalid value is dropped with a note. */

export function readRelease(raw: unknown, notes: Notes): string | null {
  const release = textField(raw, 1_024, notes, 'release')?.trim() ?? null
  if (release === null || release === '') return null
  // Code points, as the API counts them (projects/releases/releases.api.ts); nearly all names are far shorter.
  const characters = release.length > MAX_RELEASE_CHARACTERS ? Array.from(release) : null
  if (characters !== null && characters.length > 250) return refuse(notes, 'release', 'Longer than 250 characters.')
  if (/[\n\r\t/\\]/.test(release)) return refuse(notes, 'release', 'Holds a newline, tab or slash.')
  if (release === '.' || release === '..' || release.toLowerCase() === 'latest') {
    return refuse(notes, 'release', 'Not a usable name.')
  }
  if (characters === null || characters.length <= MAX_RELEASE_CHARACTERS) return release
  return `${characters.slice(0, MAX_RELEASE_CHARACTERS - 1).join('')}…`
}

/** Null without a valid one. */
export function readEnvironment(raw: unknown, notes: Notes): string | null {
  const environment = textField(raw, 1_024, notes, 'environment')?.trim() ?? null
  if (environment === null || environment === '' || environment === 'None') return null
  if (/[\n\r/]/.test(environment)) return refuse(notes, 'environment', 'Holds a newline or slash.')
  if (environment.length > 64) notes.add('environment', 'Cut to 64 characters.')
  return cut(environment, 64)
}

export function readDist(raw: unknown, notes: Notes): string | null {
  const dist = textField(raw, 1_024, notes, 'dist')?.trim() ?? null
  if (dist === null || dist === '') return null
  if (dist.length > 64 || !/^[\w.-]+$/.test(dist)) {
    return refuse(notes, 'dist', 'Longer than 64 characters, or not only letters, digits, dot, hyphen, underscore.')
  }
  return dist
}

function refuse(notes: Notes, name: string, reason: string): null {
  notes.add(name, reason)
  return null
}
