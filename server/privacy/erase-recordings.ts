import { CHUNK_BYTES, RAW_TYPES } from '../attachments/attachment.ts'
import { deleteAttachmentsOf, filesOfTypes, readChunk, type TellingFile } from '../attachments/attachments.queries.ts'
import type { App } from '../context/app.ts'
import { unhyphenate } from '../kernel/ids.ts'
import { namesUser } from './mentions-user.ts'

/** Of the stored types those that are JSON, and so can say whose the recording is. */
const TELLING = [...RAW_TYPES.keys()].filter((type) => type === 'replay_event' || type.startsWith('profile'))
const PAGE = 100

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

async function names(app: App, file: TellingFile, userKeys: readonly string[]): Promise<boolean> {
  const pieces: Buffer[] = []
  for (let seq = 0; seq * CHUNK_BYTES < file.size_bytes; seq++) {
    const piece = await readChunk(app.db, file, seq)
    // Removed meanwhile.
    if (piece === null) return false
    pieces.push(piece)
  }
  const text = Buffer.concat(pieces).toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    return userKeys.some((key) => namesUser(value, key))
  } catch {
    return userKeys.some((key) => text.includes(key))
  }
}
