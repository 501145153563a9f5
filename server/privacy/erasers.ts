import type { App } from '../context/app.ts'
import { deleteAttachmentsOf } from '../attachments/attachments.queries.ts'
import { deleteFeedbackOf } from '../feedback/feedback.queries.ts'
import { forgetSessionUser } from '../metrics/sessions/forget-session-user.ts'

/** Somebody whose data is to go. */
export type Person = {
  readonly projectId: string
  readonly orgId: string
  /** As events name them, at most 256 characters. */
  readonly userKey: string
  /** Of the key, and of what scrubbing makes of it. */
  readonly userHashes: readonly number[]
}

/** Erases what one part of the product holds beside events, and says how much. May run again at any time. */
export type Eraser = (app: App, person: Person) => Promise<Readonly<Record<string, number>>>

const feedback: Eraser = (app, { projectId, userHashes }) =>
  app.tx(async (tx) => {
    let removed: string[] = []
    for (const userHash of userHashes)
      removed = [...removed, ...(await deleteFeedbackOf(tx, projectId, { userHash, eventIds: [] }))]
    // Files that came with feedback are filed under its id.
    const files = removed.length === 0 ? 0 : await deleteAttachmentsOf(tx, projectId, removed)
    return { feedback: removed.length, attachments: files }
  })

const sessions: Eraser = async (app, { projectId, userHashes }) => {
  let count = 0
  for (const userHash of userHashes) count += await forgetSessionUser(app.db, projectId, userHash)
  return { sessions: count }
}

/** In this order, after the events themselves. */
export const ERASERS: readonly Eraser[] = [feedback, sessions]
