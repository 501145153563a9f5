import {
  attachmentKey,
  findStoredAttachments,
  insertAttachments,
  type ReceivedAttachment,
} from './attachments.queries.ts'
import type { Attachment } from './attachment.ts'
import { findIssuesOf } from '../events/store.queries.ts'
import { dayOf } from '../kernel/day.ts'
import { ACCEPTED, DUPLICATE } from '../outcomes/recorder.ts'
import type { Recorder } from '../outcomes/recorder.ts'
import { recordItemsOfIssues } from '../issue-rows/record-items.ts'

/** Stores files. A file that its event already has is a duplicate. */
export const recordAttachments: Recorder<Attachment> = async (tx, context, facts) => {
  const files = facts.map(({ fact, context }): ReceivedAttachment => ({
    projectId: context.projectId,
    receivedAt: context.receivedAt,
    attachment: fact,
  }))
  const seen = await findStoredAttachments(tx, files, dayOf(context.at))
  const isFresh = files.map((file) => {
    const key = attachmentKey(file)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
  await insertAttachments(
    tx,
    files.filter((_, index) => isFresh[index]),
  )
  // A file may arrive long after its event, while a dashboard shows the issue.
  const fresh = facts.filter((_, index) => isFresh[index])
  const issues = await findIssuesOf(
    tx,
    fresh.map(({ fact, context }) => ({ projectId: context.projectId, eventId: fact.eventId })),
  )
  await recordItemsOfIssues(
    tx,
    context,
    'issue.attachment_received',
    fresh.flatMap(({ fact, context: item }) => {
      const issueId = issues.get(`${item.projectId}/${fact.eventId}`)
      return issueId === undefined ? [] : [{ context: item, issueId }]
    }),
  )
  return isFresh.map((one) => (one ? ACCEPTED : DUPLICATE))
}
