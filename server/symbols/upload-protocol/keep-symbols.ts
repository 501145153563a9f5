import type { App } from '../../platform/context/app.ts'
import { inBatches } from '../../platform/jobs/purge.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'
import { findUnindexed } from '../files/indexes.queries.ts'
import { sweepScratch } from '../files/scratch.ts'
import { orgsWithWaitingFiles, waitForIndex } from '../files/symbol-files.queries.ts'
import { addIndexJob } from '../indexing/index-job.ts'
import { deleteChunksBefore } from './chunks.queries.ts'

const BATCH = 100
const MAX_INDEXED = 1_000

/**
 * Removes what uploads left behind, has files indexed again whose index is of an earlier version, and reminds of files that
 * wait.
 */
export async function keepSymbols(app: App, signal?: AbortSignal): Promise<void> {
  const before = new Date(app.clock.now().getTime() - DAY_MS)
  await inBatches(BATCH, signal, () => app.tx((tx) => deleteChunksBefore(tx, before, BATCH)))
  await sweepScratch(app)
  await app.tx(async (tx) => waitForIndex(tx, await findUnindexed(tx, MAX_INDEXED)))
  for (const orgId of await orgsWithWaitingFiles(app.db)) await addIndexJob(app.db, orgId)
}

export const keepSymbolsTask = defineTask({
  name: 'keep-symbols',
  payload: NoPayload,
  cron: '27 * * * *',
  run: (app, _payload, signal) => keepSymbols(app, signal),
})
