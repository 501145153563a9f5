import {
  attachmentKey,
  findStoredAttachments,
  insertAttachments,
  insertRefused,
  MAX_REFUSED,
  selectRefused,
  type ReceivedAttachment,
  type ReceivedRefusal,
} from './attachments.queries.ts'
import type { Attachment, RefusedFile } from './attachment.ts'
import { findIssuesByEvent } from '../store/store.queries.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { ACCEPTED, DUPLICATE, type ItemContext, type Recorder } from '../items/recorder.ts'
import type { FactContext } from '../../platform/context/actor.ts'
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
    await announceOf(
      tx,
      context,
      facts.filter((_, index) => isFresh[index]),
      announce,
    )
    return isFresh.map((one) => (one ? ACCEPTED : DUPLICATE))
  }

/**
 * The recorder of refused files: their event names them, at most {@link MAX_REFUSED} of one event, and a file that was sent
 * again once. The refusal has its outcome already.
 */
export const refusedFileRecorder =
  (announce: AnnounceFiles): Recorder<RefusedFile> =>
  async (tx, context, facts) => {
    const key = (projectId: string, { eventId, filename, sizeBytes }: RefusedFile): string =>
      `${projectId}/${eventId}/${sizeBytes}/${filename}`
    const events = new Map(
      facts.map(({ fact: { eventId }, context: { projectId } }) => [`${projectId}/${eventId}`, { projectId, eventId }]),
    )
    const known = await selectRefused(tx, [...events.values()])
    const seen = new Set(known.map(({ projectId, file }) => key(projectId, file)))
    const counts = new Map<string, number>()
    const count = (event: string): number => {
      const next = (counts.get(event) ?? 0) + 1
      counts.set(event, next)
      return next
    }
    for (const { projectId, file } of known) count(`${projectId}/${file.eventId}`)
    const fresh = facts.filter(({ fact, context: { projectId } }) => {
      const one = key(projectId, fact)
      if (seen.has(one)) return false
      seen.add(one)
      return count(`${projectId}/${fact.eventId}`) <= MAX_REFUSED
    })
    await insertRefused(
      tx,
      fresh.map(({ fact, context: { projectId, receivedAt } }): ReceivedRefusal => ({
        projectId,
        receivedAt,
        file: fact,
      })),
    )
    await announceOf(tx, context, fresh, announce)
    return facts.map(() => ACCEPTED)
  }

type FileFact = { readonly fact: { readonly eventId: string }; readonly context: ItemContext }

/** A file may arrive long after its event, while a dashboard shows the issue. */
async function announceOf(
  tx: Tx,
  context: FactContext,
  fresh: readonly FileFact[],
  announce: AnnounceFiles,
): Promise<void> {
  const issues = await findIssuesByEvent(
    tx,
    fresh.map(({ fact, context: { projectId } }) => ({ projectId, eventId: fact.eventId })),
  )
  await announce(
    tx,
    context,
    fresh.flatMap(({ fact, context: item }) => {
      const issueId = issues.get(`${item.projectId}/${fact.eventId}`)
      return issueId === undefined ? [] : [{ context: item, issueId }]
    }),
  )
}
