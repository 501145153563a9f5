import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { PIECE_BYTES } from '../../platform/blobs/pack-content.ts'
import { readPiece } from '../../platform/blobs/blobs.queries.ts'
import type { App } from '../../platform/context/app.ts'
import { defineTask } from '../../platform/jobs/task.ts'
import { announceSymbols, renewTextsSoon } from '../files/announce-symbols.ts'
import { hasIndex, insertIndex } from '../files/indexes.queries.ts'
import { withScratch } from '../files/scratch.ts'
import { type FileToIndex, markIndexed, selectFileToIndex } from '../files/symbol-files.queries.ts'
import { indexInThread } from './index-in-thread.ts'
import { INDEX_JOB } from './index-job.ts'

/**
 * Builds the index of a file, unless the organisation has one of the same content, and tells every process that events can
 * be read with it. A file that was deleted meanwhile is skipped.
 */
export async function indexSymbolFile(app: App, fileId: string, signal: AbortSignal): Promise<void> {
  const file = await selectFileToIndex(app.db, fileId)
  if (file === undefined) return
  const isKnown = await hasIndex(app.db, file)
  const built = isKnown
    ? null
    : await withScratch(app, async (folder) => {
        const path = join(folder, 'file')
        await pipeline(Readable.from(piecesOf(app, file)), createWriteStream(path, { mode: 0o600 }))
        return indexInThread(path, file.kind, file.object, signal)
      })
  const problem = built !== null && 'problem' in built ? built.problem : null
  await app.tx(async (tx) => {
    if (built !== null && 'index' in built) await insertIndex(tx, file, built.index, app.clock.now())
    const projectIds = await markIndexed(tx, file, problem)
    await announceSymbols(tx, file.org_id, projectIds)
    if (problem === null) await renewTextsSoon(tx, projectIds)
  })
  app.log.info({ file_id: fileId, type: file.kind, problem }, 'symbols.indexed')
}

async function* piecesOf(app: App, file: FileToIndex): AsyncGenerator<Buffer> {
  for (let seq = 0; seq * PIECE_BYTES < file.size_bytes; seq++) {
    const piece = await readPiece(app.db, file.blob_id, seq)
    if (piece === null) throw new Error('the file was deleted while it was indexed')
    yield piece
  }
}

export const indexSymbolsTask = defineTask({
  name: INDEX_JOB,
  payload: z.object({ file_id: z.uuid() }),
  isSlow: true,
  run: (app, { file_id: fileId }, signal) => indexSymbolFile(app, fileId, signal),
})
