import type { Connection } from '../../platform/storage/database.ts'

/** SQL of what upload tools name by slug. */

export type ToolProject = {
  readonly id: string
  readonly number: number
  readonly slug: string
  readonly name: string
  readonly platform: string
  readonly created_at: Date
}

const COLUMNS = ['id', 'number', 'slug', 'name', 'platform', 'created_at'] as const

export const MAX_PROJECTS = 1_000

/** Projects of an organisation by name. */
export const selectProjects = (db: Connection, orgId: string): Promise<ToolProject[]> =>
  db
    .selectFrom('projects')
    .select(COLUMNS)
    .where('org_id', '=', orgId)
    .orderBy('name')
    .orderBy('id')
    .limit(MAX_PROJECTS)
    .execute()

/** Projects of an organisation by slug, number or id. */
export async function selectNamedProjects(
  db: Connection,
  orgId: string,
  names: readonly string[],
): Promise<ToolProject[]> {
  const { rows } = await db.query<ToolProject>(
    `select id, number, slug, name, platform, created_at from projects
     where org_id = $1 and (slug = any ($2::text[]) or number::text = any ($2::text[]) or id::text = any ($2::text[]))
     order by id`,
    [orgId, names.map((name) => name.toLowerCase())],
  )
  return rows
}

export type ToolRelease = {
  readonly id: string
  readonly project_id: string
  readonly version: string
  readonly state: string
  readonly url: string | null
  readonly ref: string | null
  readonly created_at: Date
  readonly released_at: Date | null
  readonly first_event_at: Date | null
  readonly last_event_at: Date | null
}

/** Releases of a version in the projects of an organisation. */
export const selectVersion = (db: Connection, orgId: string, version: string): Promise<ToolRelease[]> =>
  db
    .selectFrom('releases as r')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .select([
      'r.id',
      'r.project_id',
      'r.version',
      'r.state',
      'r.url',
      'r.ref',
      'r.created_at',
      'r.released_at',
      'r.first_event_at',
      'r.last_event_at',
    ])
    .where('p.org_id', '=', orgId)
    .where('r.version', '=', version)
    .orderBy('r.created_at')
    .orderBy('r.id')
    .limit(MAX_PROJECTS)
    .execute()
