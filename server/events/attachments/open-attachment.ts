import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { SentFile } from '../../platform/context/handlers.ts'
import { PIECE_BYTES } from '../../platform/blobs/pack-content.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { servedType } from './attachment.ts'
import { readPieceOfFile, selectAttachment, type StoredFile } from './attachments.queries.ts'

/**
 * Opens a file of the actor's organisation, to be sent in pieces.
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
  const head = file.size_bytes === 0 ? Buffer.alloc(0) : await readPieceOfFile(app.db, file, 0)
  if (head === null) throw notFound('Attachment')
  return {
    filename: file.filename,
    contentType: servedType(head),
    sizeBytes: file.size_bytes,
    chunks: piecesOf(app, file, head),
  }
}

async function* piecesOf(app: App, file: StoredFile, head: Buffer): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  for (let seq = 1; seq * PIECE_BYTES < file.size_bytes; seq++) {
    const piece = await readPieceOfFile(app.db, file, seq)
    // The file was deleted meanwhile. The error ends the connection, so that the client does not keep an incomplete file.
    if (piece === null) throw notFound('Attachment')
    yield piece
  }
}
