import { cleanContentType, cleanFilename } from '../../events/attachments/attachment.ts'
import {
  attachmentKey,
  findStoredAttachments,
  insertAttachments,
  MAX_LISTED,
} from '../../events/attachments/attachments.queries.ts'
import type { Attachment } from '../../events/attachments/attachments.api.ts'
import { listAttachments } from '../../events/attachments/list-attachments.ts'
import { findIssuesByEvent } from '../../events/store/store.queries.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { deleteDraft } from '../../platform/blobs/blobs.queries.ts'
import { receiveContent } from '../../platform/blobs/receive-content.ts'
import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Upload } from '../../platform/context/handlers.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { retryOnDeadlock } from '../../platform/storage/retry-on-deadlock.ts'
import { lockIssue, selectIssue } from '../rows/issues.queries.ts'
import { eventById } from './choose-event.ts'
import { eventSources } from './event-sources.ts'

/**
 * Adds a file to an event of an issue, such as a log that a user sent. It is deleted with the event.
 * @throws AppError not_found, before the file is read; conflict (the event has the file, or as many as it may)
 */
export async function addAttachment(
  app: App,
  actor: OrgActor,
  { issueId, eventId: givenId, filename }: { issueId: string; eventId: string; filename: string },
  upload: Upload,
): Promise<Attachment> {
  const found = await selectIssue(app.db, actor, issueId)
  if (found === undefined) throw notFound('Issue')
  const projectId = found.project_id
  const { eventId } = await eventById(app, projectId, await eventSources(app, found), givenId)
  const content = await receiveContent(app, actor.orgId, upload.content)
  const file = {
    eventId,
    filename: cleanFilename(filename),
    contentType: cleanContentType(upload.contentType),
    attachmentType: 'event.attachment',
    content,
  }
  const receivedAt = app.clock.now()
  await ensureDayPartitions(app.db, [{ table: 'attachments' }], utcDay(receivedAt))
  const write = async (tx: Tx): Promise<Attachment> => {
    // The event may have been deleted while the file arrived. Deleting and erasing events locks the issue, too.
    const issue = await lockIssue(tx, actor, issueId)
    if (issue === undefined) throw notFound('Issue')
    if ((await findIssuesByEvent(tx, [{ projectId, eventId }])).size === 0) throw notFound('Event')
    const received = { orgId: actor.orgId, projectId, receivedAt, attachment: file }
    if ((await listAttachments(tx, projectId, [eventId])).length >= MAX_LISTED)
      throw conflict(`An event may have at most ${MAX_LISTED} files.`)
    if ((await findStoredAttachments(tx, [received], utcDay(receivedAt))).has(attachmentKey(received)))
      throw conflict('The event has this file already.')
    const [id] = await insertAttachments(tx, [received])
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'issue.attachment_added', orgId: actor.orgId, projectId, issueId: issue.id, data: {} },
    ])
    const added = (await listAttachments(tx, projectId, [eventId])).find((one) => one.id === id)
    if (added === undefined) throw new Error('the file that was added is not listed')
    return added
  }
  try {
    // Digestion may store the same content and change the issue in the other order.
    return await retryOnDeadlock(() => app.tx(write))
  } catch (error) {
    await deleteDraft(app.db, content.draftId)
    throw error
  }
}
