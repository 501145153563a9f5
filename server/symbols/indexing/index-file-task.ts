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
import {
  countAttempt,
  type FileToIndex,
  forgetAttempt,
  markIndexed,
  selectWaitingFile,
} from '../files/symbol-files.queries.ts'
import { type PackedIndex, readPacked } from '../index-file/packed-index.ts'
import { Indexer, IndexerEndedError } from './indexer.ts'
import { addIndexJob, INDEX_JOB } from './index-job.ts'

/** An organisation with more files leaves the turn to others after this time. */
const TURN_MS = 5_000
/** A file whose indexing ended the process, or the service, so often is given up. */
const MAX_ATTEMPTS = 3

/** Processor time that a file may take: ten times what an honest one needs, on a slow machine. */
const cpuSecondsFor = (sizeBytes: number): number => 30 + Math.ceil(sizeBytes / 1024 ** 2)

/** Builds the indexes of an organisation's waiting files, the oldest first, for one turn. */
export async function indexWaitingFiles(app: App, orgId: string, signal: AbortSignal): Promise<void> {
  const indexer = new Indexer()
  const startedAtMs = app.clock.monotonicMs()
  try {
    for (let count = 0; ; count++) {
      const file = await selectWaitingFile(app.db, orgId)
      if (file === undefined) return
      if (count > 0 && app.clock.monotonicMs() - startedAtMs >= TURN_MS) return await addIndexJob(app.db, orgId)
      await indexFile(app, file, indexer, signal)
    }
  } finally {
    indexer.close()
  }
}

type Result = { readonly problem: string | null; readonly packed?: PackedIndex }

/**
 * Builds the index of a file, unless the organisation has one of the same content, and tells every process that events can
 * be read with it. A file that is deleted meanwhile leaves nothing behind.
 */
async function indexFile(app: App, file: FileToIndex, indexer: Indexer, signal: AbortSignal): Promise<void> {
  if (await hasIndex(app.db, file)) return record(app, file, { problem: null })
  if ((await countAttempt(app.db, file.id)) > MAX_ATTEMPTS)
    return record(app, file, { problem: `Indexing ended ${MAX_ATTEMPTS} times before it was done.` })
  try {
    indexer.start()
    await withScratch(app, async (folder) => {
      const path = join(folder, 'file')
      if (!(await writeContent(app, file, path))) return
      await record(app, file, await build(app, file, path, indexer, signal))
    })
  } catch (error) {
    // A stop of the service or an outage of the database says nothing about the file.
    if (!(error instanceof IndexerEndedError)) await forgetAttempt(app.db, file.id).catch(() => {})
    throw error
  }
}

async function build(
  app: App,
  { id, kind, object, size_bytes: sizeBytes }: FileToIndex,
  path: string,
  indexer: Indexer,
  signal: AbortSignal,
): Promise<Result> {
  const reply = await indexer.build({ path, kind, object, cpuSeconds: cpuSecondsFor(sizeBytes) }, signal)
  if ('packed' in reply) return { problem: null, packed: reply.packed }
  if ('problem' in reply) return reply
  app.log.error({ err: reply.fault, file_id: id }, 'a reader of symbol files failed')
  return { problem: 'Faultline cannot read the file. Its log says why.' }
}

async function record(app: App, file: FileToIndex, { problem, packed }: Result): Promise<void> {
  await app.tx(async (tx) => {
    const projectIds = await markIndexed(tx, file, problem)
    if (projectIds.length === 0) return
    if (packed !== undefined) await insertIndex(tx, file, readPacked(packed), app.clock.now())
    await announceSymbols(tx, file.org_id, projectIds)
    if (problem === null) await renewTextsSoon(tx, projectIds)
  })
  app.log.info({ file_id: file.id, type: file.kind, problem }, 'symbols.indexed')
}

/** @returns false when the file was deleted meanwhile */
async function writeContent(app: App, file: FileToIndex, path: string): Promise<boolean> {
  let isWhole = true
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let seq = 0; isWhole && seq * PIECE_BYTES < file.size_bytes; seq++) {
      const piece = await readPiece(app.db, file.blob_id, seq)
      if (piece === null) isWhole = false
      else yield piece
    }
  }
  await pipeline(Readable.from(pieces()), createWriteStream(path, { mode: 0o600 }))
  return isWhole
}

export const indexSymbolsTask = defineTask({
  name: INDEX_JOB,
  payload: z.object({ org_id: z.uuid() }),
  isSlow: true,
  run: (app, { org_id: orgId }, signal) => indexWaitingFiles(app, orgId, signal),
})
