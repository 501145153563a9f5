import {
  attachmentKey,
  findStoredAttachments,
  insertAttachments,
  type FiledAttachment,
} from '../attachments/attachments.queries.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { dayOf } from '../kernel/day.ts'
import { ACCEPTED, DUPLICATE } from './item.ts'
import type { Recorder } from './recorders.ts'

/** Files, each once: the same one of the same event that came before is a duplicate. */
export const recordAttachments: Recorder<Attachment> = async (_app, client, now, facts) => {
  const files = facts.map(({ fact, filing }): FiledAttachment => ({
    projectId: filing.projectId,
    receivedAt: filing.receivedAt,
    attachment: fact,
  }))
  const seen = await findStoredAttachments(client, files, dayOf(now))
  const isFresh = files.map((file) => {
    const key = attachmentKey(file)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
  await insertAttachments(
    client,
    files.filter((_, index) => isFresh[index]),
  )
  return isFresh.map((fresh) => (fresh ? ACCEPTED : DUPLICATE))
}
