import {
  attachmentKey,
  findStoredAttachments,
  insertAttachments,
  type ReceivedAttachment,
} from './attachments.queries.ts'
import type { Attachment } from './attachment.ts'
import { findIssuesByEvent } from '../store/store.queries.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { ACCEPTED, DUPLICATE } from '../items/recorder.ts'
import type { ItemContext, Recorder } from '../items/recorder.ts'
import type { FactContext } from '../../platform/context/fact-context.ts'
import type { Tx } from '../../platform/storage/database.ts'

/** Records that issues received files. */
export type AnnounceFiles = (
  tx: Tx,
  context: FactContext,
  files: readonly { readonly context: ItemContext; readonly issueId: string }[],
) => Promise<void>

/** The recorder of files. A file that its event already has is a duplicate. */
export const attachmentRecorder =
  (announce: AnnounceFiles): Recorder<Attachment> =>
  async (tx, context, facts) => {
    const files = facts.map(({ fact, context }): ReceivedAttachment => ({
      orgId: context.orgId,
      projectId: context.projectId,
      receivedAt: context.receivedAt,
      attachment: fact,
    }))
    const seen = await findStoredAttachments(tx, files, utcDay(context.at))
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
    const issues = await findIssuesByEvent(
      tx,
      fresh.map(({ fact, context }) => ({ projectId: context.projectId, eventId: fact.eventId })),
    )
    await announce(
      tx,
      context,
      fresh.flatMap(({ fact, context: item }) => {
        const issueId = issues.get(`${item.projectId}/${fact.eventId}`)
        return issueId === undefined ? [] : [{ context: item, issueId }]
      }),
    )
    return isFresh.map((one) => (one ? ACCEPTED : DUPLICATE))
  }
