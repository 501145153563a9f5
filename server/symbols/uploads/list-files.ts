import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { cutPage, readStart } from '../../platform/kernel/cursor.ts'
import { type Page, TOTAL_CAP } from '../../platform/kernel/page.api.ts'
import { decodeTimeCursor, encodeTimeCursor } from '../../platform/kernel/time-cursor.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { countFiles, selectFiles, type SymbolFileRow } from '../files/symbol-files.queries.ts'
import type { SymbolKind } from '../files/symbol-kinds.api.ts'

export type ListInput = {
  readonly projectId: string
  readonly release?: string | undefined
  readonly debug_id?: string | undefined
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
}

/** Files of a project, newest first. @throws AppError not_found (project), invalid (cursor) */
export async function listFiles<View>(
  app: App,
  actor: OrgActor,
  { projectId, release, debug_id: debugId, limit, offset, cursor }: ListInput,
  kinds: readonly SymbolKind[],
  view: (row: SymbolFileRow) => View,
): Promise<Page<View>> {
  await requireProject(app, actor, projectId)
  const after = readStart({ offset, cursor }, decodeTimeCursor)
  const filter = { projectId, kinds, release: release ?? null, debugId: debugId ?? null }
  const [rows, total] = await Promise.all([
    selectFiles(app.db, filter, { limit: limit + 1, offset, after }),
    countFiles(app.db, filter, TOTAL_CAP + 1),
  ])
  const { shown, figures } = cutPage(rows, { limit, offset, total }, (last) =>
    encodeTimeCursor({ at: last.created_at, id: last.id }),
  )
  return {
    items: shown.map(view),
    ...figures,
  }
}
