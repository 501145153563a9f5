import { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { Counts, Difference, type Import, IMPORT_STATES, ProjectMapping } from './imports.api.ts'
import { countImports, type ImportRow, selectDifferences, selectImport, selectImports } from './imports.queries.ts'
import { Position } from './position.ts'

const State = z.enum(IMPORT_STATES)

function viewImport(row: ImportRow): Import {
  const state = State.parse(row.state)
  const mapping = z.array(ProjectMapping).parse(row.mapping)
  const { phase, project } = Position.parse(row.position)
  const slug = mapping.filter(({ taken }) => taken)[project]?.source_slug
  return {
    id: row.id,
    source_url: row.source_url,
    source_org: row.source_org,
    state,
    problem: row.problem,
    mapping,
    counts: Counts.parse(row.counts),
    now:
      state !== 'running' || phase === 'done'
        ? null
        : slug === undefined || phase === 'members'
          ? phase
          : `${slug}, ${phase}`,
    differences: Number(row.differences ?? 0),
    created_by: row.created_by === null ? null : { id: row.created_by, name: row.creator_name ?? '' },
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}

/** @throws AppError not_found */
export async function readImport(app: App, { orgId }: Pick<OrgActor, 'orgId'>, importId: string): Promise<Import> {
  const row = await selectImport(app.db, orgId, importId)
  if (row === undefined) throw notFound('Import')
  return viewImport(row)
}

export async function listImports(
  app: App,
  { orgId }: OrgActor,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Page<Import>> {
  const [rows, total] = await Promise.all([selectImports(app.db, orgId, limit, offset), countImports(app.db, orgId)])
  return { items: rows.map(viewImport), total, limit, offset, next_cursor: null }
}

/** @throws AppError not_found */
export async function listDifferences(
  app: App,
  { orgId }: OrgActor,
  importId: string,
): Promise<{ items: Difference[] }> {
  if ((await selectImport(app.db, orgId, importId)) === undefined) throw notFound('Import')
  return { items: z.array(Difference).parse(await selectDifferences(app.db, importId)) }
}
