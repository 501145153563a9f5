import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import type { BulkOperation, BulkResult } from './bulk.api.ts'
import { selectOperation, selectResults } from './bulk.queries.ts'

type ResultPage = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly result?: BulkResult | undefined
}

/**
 * The progress of an operation of the organisation, with a page of its results.
 * @throws AppError not_found, invalid (cursor)
 */
export async function viewOperation(
  app: App,
  actor: OrgActor,
  operationId: string,
  page: ResultPage = { limit: 100, offset: 0 },
): Promise<BulkOperation> {
  if (page.cursor !== undefined && page.offset > 0) throw invalid('Send either cursor or offset, not both.')
  if (page.cursor !== undefined && !/^\d{1,6}$/.test(page.cursor))
    throw invalid('cursor is not valid for this list. Use next_cursor of its previous page.')
  const after = Number(page.cursor ?? 0)
  const [row, results] = await Promise.all([
    selectOperation(app.db, operationId),
    selectResults(app.db, operationId, { ...page, after }),
  ])
  if (row === undefined || row.org_id !== actor.orgId) throw notFound('Operation')
  const shown = results.slice(0, page.limit)
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    total: row.total,
    done: row.changed + row.unchanged + row.failed,
    changed: row.changed,
    unchanged: row.unchanged,
    failed: row.failed,
    can_undo: row.kind === 'change' && row.state === 'done' && row.changed > 0 && row.undone_by === null,
    undone_by: row.undone_by,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    results: shown.map(({ issue_id, result, error }) => ({ issue_id, result, error })),
    next_cursor: results.length > page.limit ? String(shown.at(-1)?.position ?? 0) : null,
  }
}
