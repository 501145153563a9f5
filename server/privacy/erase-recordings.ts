import { CHUNK_BYTES, RAW_TYPES } from '../attachments/attachment.ts'
import { deleteAttachmentsOf, filesOfTypes, readChunk, type TellingFile } from '../attachments/attachments.queries.ts'
import type { App } from '../context/app.ts'
import { unhyphenate } from '../kernel/ids.ts'
import { namesUser } from './mentions-user.ts'

/** Of the stored types those that are JSON, and so can say whose the recording is. */
const TELLING = [...RAW_TYPES.keys()].filter((type) => type === 'replay_event' || type.startsWith('profile'))
const PAGE = 100
/** More would hold up the thread that parses it. */
const MAX_PARSED_BYTES = 2 * 1024 * 1024

/**
 * Removes replays and profiles that name a person: every part of a replay goes when one of its events names them. A
 * profile that names nobody stays; nothing says whose it is.
 * @returns how many files
 */
export async function eraseRecordingsOf(
  app: App,
  { projectId, userKeys }: { projectId: string; userKeys: readonly string[] },
  signal: AbortSignal,
): Promise<{ recordings: number }> {
  let recordings = 0
  let after: TellingFile | null = null
  while (!signal.aborted) {
    const files: TellingFile[] = await filesOfTypes(app.db, projectId, TELLING, after, PAGE)
    const theirs = new Set<string>()
    for (const file of files) {
      if (signal.aborted) return { recordings }
      const eventId = unhyphenate(file.event_id)
      if (!theirs.has(eventId) && (await names(app, file, userKeys))) theirs.add(eventId)
    }
    if (theirs.size > 0)
      recordings += await app.tx((tx) => deleteAttachmentsOf(tx, projectId, [...theirs], [...RAW_TYPES.keys()]))
    if (files.length < PAGE) break
    after = files.at(-1) ?? null
  }
  return { recordings }
}

/**
 * Whether a file may be about them. Small ones in which a key may stand are parsed, to see whether it stands where
 * people are named; a large one is theirs when the key stands anywhere in it.
 */
async function names(app: App, file: TellingFile, userKeys: readonly string[]): Promise<boolean> {
  const pieces: Buffer[] = []
  for (let seq = 0; seq * CHUNK_BYTES < file.size_bytes; seq++) {
    const piece = await readChunk(app.db, file, seq)
    // Removed meanwhile.
    if (piece === null) return false
    pieces.push(piece)
  }
  const content = Buffer.concat(pieces)
  const isMentioned = userKeys.some((key) => mentions(content, key))
  if (content.length > MAX_PARSED_BYTES) return isMentioned
  // A backslash may be an escape in the midst of a key.
  if (!isMentioned && !content.includes('\\')) return false
  try {
    const value: unknown = JSON.parse(content.toString('utf8'))
    return userKeys.some((key) => namesUser(value, key))
  } catch {
    return userKeys.some((key) => content.includes(key))
  }
}

/** As itself, or as writers of JSON write it, of which some escape slashes. */
function mentions(content: Buffer, key: string): boolean {
  const written = JSON.stringify(key).slice(1, -1)
  return [key, written, written.replaceAll('/', String.raw`\/`)].some((text) => content.includes(text))
}
