import { JsonText } from './json-pieces.ts'
import { SymbolFileError } from '../index-file/built-index.ts'
import { trimPrefix } from './read-source-map.ts'

/**
 * Debug ids (ECMA-426 proposal "Source Map Debug ID"): a UUID that a build writes into generated code and its map, so that
 * they are found together whatever their names are.
 */
const UUID = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})/i

/** @returns the debug id as a UUID in lower case: of a source map, or of generated code from its comment; null without one */
export function readDebugId(file: Buffer): string | null {
  const bytes = trimPrefix(file)
  const inMap = bytes[0] === 0x7b ? readDebugIdOfMap(bytes) : undefined
  if (inMap !== undefined) return inMap
  // The snippet that build plug-ins insert registers the id with this prefix.
  return readUuid(readComment(file, 'debugId') ?? readAfter(file, 'sentry-dbid-'))
}

/** @returns the address of the source map that generated code names in its last such comment; null without one */
export function readSourceMapUrl(file: Buffer): string | null {
  const url = readComment(file, 'sourceMappingURL')
  return url === null || url === '' ? null : url
}

const MEMBERS: ReadonlySet<string> = new Set(['debugId', 'debug_id'])

/** @returns undefined when the bytes are no JSON: code may begin with a brace too */
function readDebugIdOfMap(bytes: Buffer): string | null | undefined {
  try {
    const json = new JsonText(bytes)
    const members = json.members(json.whole(), MEMBERS)
    const id = members.get('debugId') ?? members.get('debug_id')
    const value = id === undefined ? null : json.decode(id)
    return typeof value === 'string' ? readUuid(value) : null
  } catch (error) {
    if (error instanceof SymbolFileError) return undefined
    throw error
  }
}

const readUuid = (text: string | null): string | null => {
  const match = text === null ? null : UUID.exec(text)
  return match === null ? null : match.slice(1).join('-').toLowerCase()
}

/** A map in a `data:` URL is as long as the map; nothing that calls this wants more than an address. */
const MAX_COMMENT = 4_096

/** @returns the value of the last comment `//# name=` (`//@` in old files, and in CSS `/*#`) */
function readComment(file: Buffer, name: string): string | null {
  const at = Math.max(file.lastIndexOf(`# ${name}=`), file.lastIndexOf(`@ ${name}=`))
  const value =
    at <= 0 || (file[at - 1] !== 0x2f && file[at - 1] !== 0x2a) ? null : readFrom(file, at + name.length + 3)
  return value === null ? null : (/^[^\s'"`*]*/.exec(value)?.[0] ?? null)
}

function readAfter(file: Buffer, prefix: string): string | null {
  const at = file.indexOf(prefix)
  return at === -1 ? null : readFrom(file, at + prefix.length)
}

const readFrom = (file: Buffer, at: number): string =>
  file.toString('utf8', at, Math.min(file.length, at + MAX_COMMENT))
