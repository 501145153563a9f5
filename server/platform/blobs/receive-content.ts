import { createHash } from 'node:crypto'
import type { App } from '../context/app.ts'
import { deleteDraft, insertDraft, insertPiece, type ReceivedContent } from './blobs.queries.ts'
import { packPiece, PIECE_BYTES } from './pack-content.ts'

/**
 * Stores content piece by piece while it arrives; one piece at a time is in memory. `holdBlobs` makes a blob of it, and
 * `sweepBlobsTask` removes it a day later otherwise. Stores nothing when reading fails.
 * @throws what reading throws: the caller limits the size
 */
export async function receiveContent(
  app: App,
  orgId: string,
  content: AsyncIterable<Buffer>,
): Promise<ReceivedContent> {
  const draftId = await insertDraft(app.db, orgId, app.clock.now())
  const sha256 = createHash('sha256')
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  let sizeBytes = 0
  let used = 0
  let seq = 0
  const store = async (): Promise<void> => {
    if (used === 0) return
    await insertPiece(app.db, draftId, seq++, await packPiece(piece.subarray(0, used)))
    used = 0
  }
  try {
    for await (const part of content) {
      sizeBytes += part.length
      sha256.update(part)
      for (let at = 0; at < part.length;) {
        const copied = part.copy(piece, used, at)
        at += copied
        used += copied
        if (used === piece.length) await store()
      }
    }
    await store()
  } catch (error) {
    await deleteDraft(app.db, draftId).catch(() => {})
    throw error
  }
  return { draftId, sizeBytes, sha256: sha256.digest() }
}
