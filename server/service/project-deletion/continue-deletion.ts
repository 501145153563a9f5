import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { isDeletionPending } from '../../events/store/bodies.ts'
import { awaitFold } from '../../issues/recording/await-fold.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { forgetDeletedFrom } from '../../projects/registry/project-rows.queries.ts'
import { isDigestedUpTo } from '../../ingest/spool/erase-from-spool.ts'
import { retryOnDeadlock } from '../../platform/storage/retry-on-deadlock.ts'
import {
  countDeleted,
  deleteOperations,
  finishOperation,
  isHorizonPassed,
  noteHorizon,
  readOperation,
  runningOperations,
  setPartsDone,
  type OperationRow,
} from './operations.queries.ts'
import { PROJECT_PARTS } from './project-parts.ts'

export const CONTINUE_DELETION = 'delete-project'
const RETENTION_MS = 30 * 86_400_000
/** Work that must end first usually ends within seconds; otherwise the schedule continues. */
const RETRY_MS = 500
const MAX_RETRIES = 20

/**
 * Deletes the rows of a deleted project in small transactions, and may be interrupted between any two. It is done when a
 * whole pass began after everything that could still write rows of the project: requests in the spool, counts in the
 * journal, a day that is packed, transactions that had read the project. Until then it stays `running`.
 * @returns whether it is done
 */
export async function continueDeletion(app: App, operationId: string, signal: AbortSignal): Promise<boolean> {
  const operation = await readOperation(app.db, operationId)
  if (operation === undefined || operation.state === 'done') return true
  await noteHorizon(app.db, operation.id)
  const isLastPass = await isQuiet(app, operation, signal)
  for (const [index, part] of PROJECT_PARTS.entries()) {
    for (;;) {
      if (signal.aborted) return false
      const deleted = await retryOnDeadlock(() =>
        app.tx(async (tx) => {
          const rows = await part.deleteRows(tx, operation.project_id, part.max)
          if (rows > 0) await countDeleted(tx, operation.id, rows)
          return rows
        }),
      )
      if (deleted === 0) break
    }
    await setPartsDone(app.db, operation.id, index + 1)
  }
  // This pass itself may have left work for packing and for object storage.
  if (!isLastPass || (await isDeletionPending(app.db))) return false
  await app.tx(async (tx) => {
    await forgetDeletedFrom(tx, operation.project_id)
    await finishOperation(tx, operation.id, app.clock.now())
  })
  app.log.info(
    { project_id: operation.project_id, org_id: operation.org_id, operation_id: operation.id },
    'project.rows_deleted',
  )
  return true
}

const isQuiet = async (app: App, operation: OperationRow, signal: AbortSignal): Promise<boolean> =>
  (await isDigestedUpTo(app, operation.created_at)) &&
  (await awaitFold(app, signal)) &&
  !(await isDeletionPending(app.db)) &&
  (await isHorizonPassed(app.db, operation.id))

export const deleteProjectTask = defineTask({
  name: CONTINUE_DELETION,
  payload: z.object({ operation_id: z.uuid() }),
  async run(app, { operation_id: id }, signal) {
    for (let retry = 0; retry < MAX_RETRIES && !signal.aborted; retry++) {
      if (await continueDeletion(app, id, signal)) return
      await delay(RETRY_MS, undefined, { signal }).catch(() => {})
    }
  },
})

/** Continues what was interrupted, or what had to wait. */
export const deletionsTask = defineTask({
  name: 'project-deletions',
  payload: NoPayload,
  cron: '* * * * *',
  async run(app, _payload, signal) {
    for (const id of await runningOperations(app.db)) {
      if (signal.aborted) return
      await continueDeletion(app, id, signal)
    }
    await deleteOperations(app.db, new Date(app.clock.now().getTime() - RETENTION_MS))
  },
})
