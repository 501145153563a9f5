import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { SentFile } from '../../platform/context/handlers.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { requireProject } from '../../projects/registry/require-project.ts'
import { CHUNK_BYTES, servedType } from './attachment.ts'
import { readChunk, selectAttachment } from './attachments.queries.ts'

/**
 * Opens a file of the actor's organisation, to be sent in chunks.
 * @throws AppError not_found
 */
export async function openAttachment(
  app: App,
  actor: OrgActor,
  input: { projectId: string; attachmentId: string },
): Promise<SentFile> {
  await requireProject(app, actor, input.projectId)
  const file = await selectAttachment(app.db, input.projectId, input.attachmentId)
  if (file === undefined) throw notFound('Attachment')
  const head = file.size_bytes === 0 ? Buffer.alloc(0) : await readChunk(app.db, file, 0)
  if (head === null) throw notFound('Attachment')
  return {
    filename: file.filename,
    contentType: servedType(head),
    sizeBytes: file.size_bytes,
    chunks: chunksOf(app, file, head),
  }
}

async function* chunksOf(
  app: App,
  file: { id: string; received_day: string; size_bytes: number },
  head: Buffer,
): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  for (let seq = 1; seq * CHUNK_BYTES < file.size_bytes; seq++) {
    const chunk = await readChunk(app.db, file, seq)
    // The file was deleted meanwhile. The error ends the connection, so that the client does not keep an incomplete file.
    if (chunk === null) throw notFound('Attachment')
    yield chunk
  }
}
