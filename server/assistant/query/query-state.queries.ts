import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'
import { ROLE, SCHEMA } from './catalogue.ts'

export type RoleFacts = {
  /** The role that the service logs in with. */
  readonly owner: string
  readonly has_role: boolean
  /** The role can do more than read, so that it is no wall. */
  readonly is_strong: boolean
  readonly may_set: boolean
  readonly may_use: boolean
  /** Views that the role cannot read. */
  readonly unreadable: number
  readonly may_limit_files: boolean
}

/** The role of statements, and whether the service may take it on. */
export async function readRoleFacts(db: Connection): Promise<RoleFacts> {
  const { rows } = await sql<RoleFacts>`
    select current_user::text as owner, r.oid is not null as has_role,
      coalesce(r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolreplication
        or exists (select from pg_auth_members m where m.member = r.oid), false) as is_strong,
      coalesce(pg_has_role(current_user, r.oid,
        case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end), false) as may_set,
      coalesce(has_schema_privilege(r.oid, n.oid, 'usage'), false) as may_use,
      (select count(*) from pg_class c where c.relnamespace = n.oid and c.relkind = 'v'
        and not coalesce(has_table_privilege(r.oid, c.oid, 'select'), false))::int as unreadable,
      has_parameter_privilege(current_user, 'temp_file_limit', 'set') as may_limit_files
    from pg_namespace n left join pg_roles r on r.rolname = ${ROLE} where n.nspname = ${SCHEMA}`.execute(db)
  const [facts] = rows
  if (facts === undefined) throw new Error(`the schema ${SCHEMA} is missing`)
  return facts
}

/** The owner of the views can do this once the role exists. */
const GRANTS = [
  `grant usage on schema ${SCHEMA} to ${ROLE}`,
  `grant select on all tables in schema ${SCHEMA} to ${ROLE}`,
  `grant execute on all functions in schema ${SCHEMA} to ${ROLE}`,
  `alter default privileges in schema ${SCHEMA} grant select on tables to ${ROLE}`,
  `alter default privileges in schema ${SCHEMA} grant execute on functions to ${ROLE}`,
]

/** Lets the role read the views. */
export async function grantViews(db: Connection): Promise<void> {
  for (const grant of GRANTS) await sql.raw(grant).execute(db)
}

/** Statements for someone who may create roles. @param owner the role of the service */
export const setupStatements = (owner: string, hasRole: boolean): string[] => [
  ...(hasRole ? [] : [`create role ${ROLE} nologin;`]),
  `grant ${ROLE} to "${owner.replaceAll('"', '""')}";`,
]

/** The number of rows of tables, as the planner knows it. */
export async function readTableSizes(db: Connection, tables: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ name: string; rows: number }>`
    select relname::text as name, reltuples::float8 as rows from pg_class
    where relkind in ('r', 'p') and relname = any(${[...tables]}::text[])`.execute(db)
  return new Map(rows.map(({ name, rows: size }) => [name, size]))
}
