import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { BulkChange, type BulkOperation } from './bulk.api.ts'
import { changedIssues, selectOperation } from './bulk.queries.ts'
import { begin } from './start-operation.ts'
import { viewOperation } from './view-operation.ts'

/**
 * Starts an operation that restores what another one replaced, except where it was changed since.
 * @throws AppError not_found, conflict (deletions, undo itself, still running, nothing was changed)
 */
export async function undoOperation(app: App, actor: OrgActor, operationId: string): Promise<BulkOperation> {
  const row = await selectOperation(app.db, operationId)
  if (row === undefined || row.org_id !== actor.orgId) throw notFound('Operation')
  if (row.undone_by !== null) return viewOperation(app, actor, row.undone_by)
  if (row.kind === 'delete') throw conflict('Deleted issues cannot be restored.')
  if (row.kind === 'undo') throw conflict('This operation is an undo. Make the change again instead.')
  if (row.state !== 'done') throw conflict('The operation is still running. Undo it when it is done.')
  if (row.changed === 0) throw conflict('The operation changed nothing.')
  const issueIds = await changedIssues(app.db, operationId)
  const change = BulkChange.parse(row.request)
  return begin(app, actor, { kind: 'undo', change, request: { undo: operationId }, undoes: operationId, issueIds })
}
