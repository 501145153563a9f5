import { sql, type SqlBool } from 'kysely'
import { isUuid } from '../kernel/ids.ts'
import type { Connection } from '../storage/database.ts'
import { activeMembers } from '../team/members.queries.ts'

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

const anyText = (values: readonly string[]) => sql<string>`any(${values.map((value) => value.toLowerCase())}::text[])`
const anyId = (values: readonly string[]) => sql<string>`any(${values.filter(isUuid)}::uuid[])`
