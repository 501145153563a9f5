import type { App } from '../../platform/context/app.ts'
import {
  deleteEventAttachments,
  filesOfTypes,
  readPieceOfFile,
  type RecordingFile,
} from '../../events/attachments/attachments.queries.ts'
import { deleteUserFeedback } from '../../issues/feedback/feedback.queries.ts'
import { deleteIdentities } from '../../issues/search/user-identities.queries.ts'
import { removeUserFromSessions } from '../../telemetry/app-health/fold.queries.ts'
import { deleteOwners } from '../../telemetry/precursors/precursors.queries.ts'
import { eraseUserTelemetry } from '../../telemetry/logs/erase-user.ts'
import { RAW_TYPES } from '../../events/attachments/attachment.ts'
import { PIECE_BYTES } from '../../platform/blobs/pack-content.ts'
import { parseUnguarded } from '../../events/protocol/json-guard.ts'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import { namesUser } from './mentions-user.ts'

/** Stored types that are JSON, in which a recording can name its user. */
const JSON_TYPES = [...RAW_TYPES.keys()].filter((type) => type === 'replay_event' || type.startsWith('profile'))
const PAGE_SIZE = 100
/** Parsing more would block the thread. */
const MAX_PARSED_BYTES = 2 * 1024 * 1024

/**
 * Deletes replays and profiles that name the user: all parts of a replay when one of its events does. Profiles without a
 * user stay.
 * @returns number of files deleted
 */
async function eraseUserRecordings(
  app: App,
  { projectId, userKeys }: { projectId: string; userKeys: readonly string[] },
  signal: AbortSignal,
): Promise<{ recordings: number }> {
  let recordings = 0
  let after: RecordingFile | null = null
  while (!signal.aborted) {
    const files: RecordingFile[] = await filesOfTypes(app.db, projectId, JSON_TYPES, after, PAGE_SIZE)
    const theirs = new Set<string>()
    for (const file of files) {
      if (signal.aborted) return { recordings }
      const eventId = unhyphenate(file.event_id)
      if (!theirs.has(eventId) && (await names(app, file, userKeys))) theirs.add(eventId)
    }
    if (theirs.size > 0)
      recordings += await app.tx((tx) => deleteEventAttachments(tx, projectId, [...theirs], [...RAW_TYPES.keys()]))
    if (files.length < PAGE_SIZE) break
    after = files.at(-1) ?? null
  }
  return { recordings }
}

/**
 * Whether a file names the user. Parses small files that may contain a key, to check the fields that name users. For a
 * large file, a key anywhere in it is enough.
 */
async function names(app: App, file: RecordingFile, userKeys: readonly string[]): Promise<boolean> {
  const pieces: Buffer[] = []
  for (let seq = 0; seq * PIECE_BYTES < file.size_bytes; seq++) {
    const piece = await readPieceOfFile(app.db, file, seq)
    // Deleted meanwhile.
    if (piece === null) return false
    pieces.push(piece)
  }
  const content = Buffer.concat(pieces)
  const isMentioned = userKeys.some((key) => mentions(content, key))
  if (content.length > MAX_PARSED_BYTES) return isMentioned
  // A backslash may be an escape inside the key.
  if (!isMentioned && !content.includes('\\')) return false
  try {
    const value = parseUnguarded(content.toString('utf8'))
    return userKeys.some((key) => namesUser(value, key))
  } catch {
    return userKeys.some((key) => content.includes(key))
  }
}

/** Whether the content has the key, plain or escaped as in JSON; some encoders escape slashes. */
function mentions(content: Buffer, key: string): boolean {
  const written = JSON.stringify(key).slice(1, -1)
  return [key, written, written.replaceAll('/', String.raw`\/`)].some((text) => content.includes(text))
}

/** One of the app's users whose data is erased. */
export type UserToErase = {
  readonly projectId: string
  readonly orgId: string
  /** The user's id in events, at most 256 characters. */
  readonly userKey: string
  /** The id, and its hashes by scrubbing rules, which events since the rule have instead. */
  readonly userKeys: readonly string[]
  /** Hashes of these keys. */
  readonly userHashes: readonly number[]
}

/**
 * Erases the user's data of one domain, except events. May run again at any time; may end early after the signal.
 * @returns numbers erased by kind
 */
type Eraser = (app: App, user: UserToErase, signal: AbortSignal) => Promise<Readonly<Record<string, number>>>

/** User reports name their author only by e-mail address. */
const feedback: Eraser = (app, { projectId, userHashes, userKeys: emails }) =>
  app.tx(async (tx) => {
    let removed: string[] = []
    for (const userHash of userHashes)
      removed = [...removed, ...(await deleteUserFeedback(tx, projectId, { userHash, eventIds: [], emails }))]
    // Files of feedback are stored under its id.
    const files = removed.length === 0 ? 0 : await deleteEventAttachments(tx, projectId, removed)
    return { feedback: removed.length, attachments: files }
  })

const sessions: Eraser = async (app, { projectId, userHashes }) => {
  let count = 0
  for (const userHash of userHashes) count += await removeUserFromSessions(app.db, projectId, userHash)
  return { sessions: count }
}

const precursors: Eraser = async (app, { projectId, userHashes }) => {
  await deleteOwners(app.db, projectId, userHashes)
  return {}
}

const telemetry: Eraser = (app, { projectId, userKeys }, signal) => eraseUserTelemetry(app, projectId, userKeys, signal)

const identities: Eraser = async (app, { projectId, userHashes }) => {
  await deleteIdentities(app.db, projectId, userHashes)
  return {}
}

/** They run in this order, after events are erased. */
export const ERASERS: readonly Eraser[] = [identities, feedback, sessions, precursors, telemetry, eraseUserRecordings]
