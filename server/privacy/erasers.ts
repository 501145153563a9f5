import type { App } from '../context/app.ts'
import { deleteAttachmentsOf } from '../attachments/attachments.queries.ts'
import { deleteFeedbackOf } from '../feedback/feedback.queries.ts'
import { forgetSessionUser } from '../metrics/sessions/purge.queries.ts'
import { eraseTelemetryOf } from '../telemetry/erase-user.ts'
import { eraseRecordingsOf } from './erase-recordings.ts'

/** Somebody whose data is to go. */
export type Person = {
  readonly projectId: string
  readonly orgId: string
  /** As events name them, at most 256 characters. */
  readonly userKey: string
  /** The key, and what scrubbing makes of it: events that came since a rule know the person by that only. */
  readonly userKeys: readonly string[]
  /** Of those keys. */
  readonly userHashes: readonly number[]
}

/**
 * Erases what one part of the product holds beside events, and says how much. May run again at any time; once the
 * signal is given it may stop half-way.
 */
export type Eraser = (app: App, person: Person, signal: AbortSignal) => Promise<Readonly<Record<string, number>>>

/** Older reports say who wrote them by e-mail address alone. */
const feedback: Eraser = (app, { projectId, userHashes, userKeys: emails }) =>
  app.tx(async (tx) => {
    let removed: string[] = []
    for (const userHash of userHashes)
      removed = [...removed, ...(await deleteFeedbackOf(tx, projectId, { userHash, eventIds: [], emails }))]
    // Files that came with feedback are filed under its id.
    const files = removed.length === 0 ? 0 : await deleteAttachmentsOf(tx, projectId, removed)
    return { feedback: removed.length, attachments: files }
  })

const sessions: Eraser = async (app, { projectId, userHashes }) => {
  let count = 0
  for (const userHash of userHashes) count += await forgetSessionUser(app.db, projectId, userHash)
  return { sessions: count }
}

const telemetry: Eraser = (app, { projectId, userKeys }, signal) => eraseTelemetryOf(app, projectId, userKeys, signal)

/** In this order, after the events themselves. */
export const ERASERS: readonly Eraser[] = [feedback, sessions, telemetry, eraseRecordingsOf]
