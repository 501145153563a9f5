import { selectMembersNamed, selectProjectNames } from './resolve-names.queries.ts'
import type { OrgActor } from '../context/actor.ts'
import { invalid } from '../kernel/errors.ts'
import type { Connection } from '../storage/database.ts'
import type { Term } from './query.ts'

/** Ids of the members and projects that a query names, within the actor's organisation. */
export type Named = {
  readonly members: ReadonlyMap<string, readonly string[]>
  readonly projects: ReadonlyMap<string, readonly string[]> & { readonly ids: readonly string[] }
}

type Naming = { readonly values: readonly string[]; readonly at: number }

const unknown = (name: string, what: string, value: string, at: number) =>
  invalid(`${name}: ${what} "${value.slice(0, 100)}" (character ${at + 1}).`)

/** Values that need no lookup: `me`, `none` and teams (`#web`). */
export const isTeam = (value: string): boolean => value.startsWith('#')
const isKeyword = (value: string): boolean => value === 'me' || value === 'none' || isTeam(value)

/**
 * Returns ids of active members by address, name (any case) or id. Several members may have the same name.
 * @throws AppError invalid for an unknown member
 */
export async function membersNamed(
  db: Connection,
  actor: OrgActor,
  terms: readonly Term[],
  name: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const namings = terms.filter((term) => term.kind === 'assigned')
  const values = namesIn(namings).filter((value) => !isKeyword(value))
  if (values.length === 0) return new Map()
  const rows = await selectMembersNamed(db, actor.orgId, values)
  return resolved(
    namings,
    (value) => {
      const wanted = value.toLowerCase()
      return isKeyword(value)
        ? []
        : rows
            .filter((row) => [row.id, row.email.toLowerCase(), row.name.toLowerCase()].includes(wanted))
            .map(({ id }) => id)
    },
    (value, at) => unknown(name, 'no member of this organisation is called', value, at),
    (value) => !isKeyword(value),
  )
}

/**
 * Returns ids of projects by slug, name or id; and the ids of all projects, which searches by user need.
 * @throws AppError invalid for an unknown project
 */
export async function projectsNamed(
  db: Connection,
  actor: OrgActor,
  terms: readonly Term[],
  name: string,
): Promise<Named['projects']> {
  const namings = terms.filter((term) => term.kind === 'project')
  if (namings.length === 0 && !terms.some((term) => term.kind === 'user')) return Object.assign(new Map(), { ids: [] })
  const rows = await selectProjectNames(db, actor.orgId)
  const byName = resolved(
    namings,
    (value) => {
      const wanted = value.toLowerCase()
      return rows.filter((row) => [row.id, row.slug, row.name.toLowerCase()].includes(wanted)).map(({ id }) => id)
    },
    (value, at) => unknown(name, 'there is no project', value, at),
  )
  return Object.assign(byName, { ids: rows.map(({ id }) => id) })
}

const namesIn = (namings: readonly Naming[]): string[] => [...new Set(namings.flatMap(({ values }) => values))]

/** @throws what `refuse` returns for an unknown name */
function resolved(
  namings: readonly Naming[],
  idsOf: (value: string) => string[],
  refuse: (value: string, at: number) => Error,
  needsOne: (value: string) => boolean = () => true,
): Map<string, readonly string[]> {
  const ids = new Map<string, readonly string[]>()
  for (const { values, at } of namings)
    for (const value of values) {
      const found = idsOf(value)
      if (found.length === 0 && needsOne(value)) throw refuse(value, at)
      ids.set(value, found)
    }
  return ids
}
