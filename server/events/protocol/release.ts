import {
  CONTROL_CHARACTER,
  isReservedRelease,
  MAX_ENVIRONMENT_CHARACTERS,
  MAX_RELEASE_CHARACTERS,
} from '#shared/release-name.ts'
import { textField } from './json.ts'
import { type Notes, cut } from './strings.ts'

/** Release, environment and dist. An invalid value is dropped with a note. */

export function readRelease(raw: unknown, notes: Notes): string | null {
  const release = textField(raw, 1_024, notes, 'release')?.trim() ?? null
  if (release === null || release === '') return null
  // Code points, as the API counts them (projects/releases/releases.api.ts); nearly all names are far shorter.
  const characters = release.length > MAX_RELEASE_CHARACTERS ? Array.from(release) : null
  if (characters !== null && characters.length > 250) return refuse(notes, 'release', 'Longer than 250 characters.')
  if (CONTROL_CHARACTER.test(release)) {
    return refuse(notes, 'release', 'Holds a newline, tab or another control character.')
  }
  if (isReservedRelease(release)) return refuse(notes, 'release', 'Not a usable name.')
  if (characters === null || characters.length <= MAX_RELEASE_CHARACTERS) return release
  notes.add('release', `Cut to ${MAX_RELEASE_CHARACTERS} characters.`)
  return `${characters.slice(0, MAX_RELEASE_CHARACTERS - 1).join('')}…`
}

/** The environment of data whose environment was refused: none, and never the default of the project. */
const NO_ENVIRONMENT = ''

/**
 * Reads a name of an environment.
 * @returns null when none was sent, so that the project's default applies; {@link NO_ENVIRONMENT}, with a note, when the
 *   name is refused
 */
export function readEnvironment(raw: unknown, notes: Notes): string | null {
  if (raw === null || raw === undefined) return null
  const text = textField(raw, 1_024, notes, 'environment')
  // Not a text; textField has added the note.
  if (text === null) return raw === '' ? null : NO_ENVIRONMENT
  const environment = text.trim()
  if (environment === '') return null
  if (environment === 'None') return refuseEnvironment(notes, '“None” is no name of an environment.')
  if (CONTROL_CHARACTER.test(environment)) {
    return refuseEnvironment(notes, 'Holds a newline, tab or another control character.')
  }
  if (environment.length > MAX_ENVIRONMENT_CHARACTERS) {
    notes.add('environment', `Cut to ${MAX_ENVIRONMENT_CHARACTERS} characters.`)
  }
  return cut(environment, MAX_ENVIRONMENT_CHARACTERS)
}

/** Reads the field, and the tag of this name where the field is missing or refused. */
export function readEnvironmentOrTag(field: unknown, tag: string | null, notes: Notes): string | null {
  const environment = readEnvironment(field, notes)
  if (environment !== null && environment !== NO_ENVIRONMENT) return environment
  return readEnvironment(tag, notes) ?? environment
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

function refuseEnvironment(notes: Notes, reason: string): typeof NO_ENVIRONMENT {
  notes.add('environment', `${reason} Counted without an environment.`)
  return NO_ENVIRONMENT
}
