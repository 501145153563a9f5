import type { App } from '../../platform/context/app.ts'
import { deleteEventAttachments } from '../../events/attachments/attachments.queries.ts'
import { deleteUserFeedback } from '../../issues/feedback/feedback.queries.ts'
import { deleteIdentities } from '../../issues/search/user-identities.queries.ts'
import { removeUserFromSessions } from '../../telemetry/app-health/fold.queries.ts'
import { deleteOwners } from '../../telemetry/precursors/precursors.queries.ts'
import { eraseUserTelemetry } from '../../telemetry/logs/erase-user.ts'
import { eraseUserRecordings } from './erase-recordings.ts'

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
export type Eraser = (app: App, user: UserToErase, signal: AbortSignal) => Promise<Readonly<Record<string, number>>>

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
