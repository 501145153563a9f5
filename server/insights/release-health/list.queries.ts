import { sql } from 'kysely'
import { TOTAL_CAP } from '../../platform/kernel/page.api.ts'
import type { ReleaseState } from '../../projects/releases/releases.api.ts'
import type { ReleaseRow } from '../../projects/releases/releases.queries.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { RELEASE_SORTS } from './release-health.api.ts'

export type ReleaseFilter = {
  readonly orgId: string
  /** Default: all projects of the organisation. */
  readonly projectId: string | undefined
  readonly q: string | undefined
  readonly version: string | undefined
  readonly states: readonly ReleaseState[] | undefined
}

export type SortKey = (typeof RELEASE_SORTS)[number]
export type ReleaseOrder = { readonly key: SortKey; readonly descending: boolean }
/** Sort value and id of the last row of the previous page. */
export type After = { readonly value: string | Date; readonly id: string }

const COLUMNS = { date: 'dated_at', created_at: 'created_at', version: 'version_key' } as const

export const readSortValue = (row: ReleaseRow, key: SortKey): string | Date => row[COLUMNS[key]]

function matching(db: Connection, { orgId, projectId, q, version, states }: ReleaseFilter) {
  let query = db.selectFrom('releases')
  query =
    projectId === undefined
      ? query.where('project_id', 'in', (of) => of.selectFrom('projects').select('id').where('org_id', '=', orgId))
      : query.where('project_id', '=', projectId)
  if (version !== undefined) query = query.where('version', '=', version)
  // Escapes wildcards in the search text.
  if (q !== undefined && q !== '') query = query.where('version', 'ilike', `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`)
  if (states !== undefined)
    query = query.where('state', 'in', states.length === 0 ? ['planned', 'open', 'archived'] : [...states])
  return query
}

export async function selectReleases(
  db: Connection,
  filter: ReleaseFilter,
  { key, descending }: ReleaseOrder,
  { limit, offset, after }: { readonly limit: number; readonly offset: number; readonly after: After | null },
): Promise<ReleaseRow[]> {
  const direction = descending ? 'desc' : 'asc'
  const column = sql.ref(COLUMNS[key])
  let query = matching(db, filter).selectAll()
  if (after !== null) {
    const operator = sql.raw(descending ? '<' : '>')
    const type = sql.raw(key === 'version' ? 'text' : 'timestamptz')
    query = query.where(sql<boolean>`(${column}, id) ${operator} (${after.value}::${type}, ${after.id}::uuid)`)
  }
  return query.orderBy(column, direction).orderBy('id', direction).limit(limit).offset(offset).execute()
}

export async function countReleases(db: Connection, filter: ReleaseFilter): Promise<number> {
  const { n } = await db
    .selectFrom(
      matching(db, filter)
        .select('id')
        .limit(TOTAL_CAP + 1)
        .as('counted'),
    )
    .select((count) => count.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

/** Releases of a project with these versions. */
export const selectVersions = (on: Connection, projectId: string, versions: readonly string[]) =>
  on
    .selectFrom('releases')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('version', 'in', [...versions])
    .execute()
