import { sql, type SqlBool } from 'kysely'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { activeMembers } from '../../identity/team/members.queries.ts'

/** Returns active members with one of these addresses, names (any case) or ids, and all whose name is not ASCII. */
export const selectMembersNamed = (db: Connection, orgId: string, values: readonly string[]) =>
  db
    .selectFrom(activeMembers(db).as('member'))
    .select(['id', 'email', 'name'])
    .where('org_id', '=', orgId)
    .where((eb) =>
      eb.or([
        eb(eb.fn<string>('lower', ['email']), '=', anyText(values)),
        eb(eb.fn<string>('lower', ['name']), '=', anyText(values)),
        // With some locales PostgreSQL lowers only ASCII: the caller compares these names.
        sql<SqlBool>`name ~ '[^\\u0001-\\u007f]'`,
        eb('id', '=', anyId(values)),
      ]),
    )
    .execute()

export const selectProjectNames = (on: Connection, orgId: string) =>
  on.selectFrom('projects').select(['id', 'slug', 'name']).where('org_id', '=', orgId).execute()

/** Returns issues by number of their project, in upper case as `SHOP-42`; of a merged one its merge target. */
export async function selectIssuesNamed(
  db: Connection,
  orgId: string,
  shortIds: readonly string[],
): Promise<Map<string, string>> {
  const names = shortIds.flatMap((name) => {
    const [, slug, number] = SHORT_ID.exec(name) ?? []
    return slug === undefined ? [] : [{ name, slug: slug.toLowerCase(), number: Number(number) }]
  })
  if (names.length === 0) return new Map()
  const { rows } = await sql<{ name: string; id: string }>`
    select k.name, g.issue_id as id
    from unnest(${names.map(({ name }) => name)}::text[], ${names.map(({ slug }) => slug)}::text[],
      ${names.map(({ number }) => number)}::int[]) k (name, slug, number)
    join projects p on p.org_id = ${orgId} and p.slug = k.slug
    join issues i on i.project_id = p.id and i.number = k.number
    join issue_groups g on g.id = i.id`.execute(db)
  return new Map(rows.map(({ name, id }) => [name, id]))
}

/** `SHOPPER-WEB-3`: the slug of a project and a number. */
export const SHORT_ID = /^([a-z0-9]+(?:-[a-z0-9]+)*)-([1-9]\d{0,8})$/i

const anyText = (values: readonly string[]) => sql<string>`any(${values.map((value) => value.toLowerCase())}::text[])`
const anyId = (values: readonly string[]) => sql<string>`any(${values.filter(isUuid)}::uuid[])`
