import { selectMembersNamed, selectProjectNames } from './resolve-names.queries.ts'
import type { OrgActor } from '../context/actor.ts'
import { invalid } from '../kernel/errors.ts'
import type { Connection } from '../storage/database.ts'
import type { Term } from './query.ts'

/** Whom and what the names in a query stand for, within the actor's organisation. */
export type Named = {
  readonly people: ReadonlyMap<string, readonly string[]>
  readonly projects: ReadonlyMap<string, readonly string[]> & { readonly ids: readonly string[] }
}

type Naming = { readonly values: readonly string[]; readonly at: number }

const unknown = (name: string, what: string, value: string, at: number) =>
  invalid(`${name}: ${what} "${value.slice(0, 100)}" (character ${at + 1}).`)

/** Words that name nobody in particular, or a team (`#web`), and need no looking up. */
export const isTeam = (value: string): boolean => value.startsWith('#')
const isWord = (value: string): boolean => value === 'me' || value === 'none' || isTeam(value)

/**
 * Ids of active members by address, name (any case) or id. Several members may have the same name.
 * @throws AppError invalid
 */
export async function membersNamed(
  db: Connection,
  actor: OrgActor,
  terms: readonly Term[],
  name: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const asked = terms.filter((term) => term.kind === 'assigned')
  const values = namesIn(asked).filter((value) => !isWord(value))
  if (values.length === 0) return new Map()
  const rows = await selectMembersNamed(db, actor.orgId, values)
  return resolved(
    asked,
    (value) => {
      const wanted = value.toLowerCase()
      return isWord(value)
        ? []
        : rows
            .filter((row) => [row.id, row.email.toLowerCase(), row.name.toLowerCase()].includes(wanted))
            .map(({ id }) => id)
    },
    (value, at) => unknown(name, 'nobody in this organisation is called', value, at),
    (value) => !isWord(value),
  )
}

/** Ids by slug, name or id, and those of all projects where the query asks for people. @throws AppError invalid */
export async function projectsNamed(
  db: Connection,
  actor: OrgActor,
  terms: readonly Term[],
  name: string,
): Promise<Named['projects']> {
  const asked = terms.filter((term) => term.kind === 'project')
  if (asked.length === 0 && !terms.some((term) => term.kind === 'user')) return Object.assign(new Map(), { ids: [] })
  const rows = await selectProjectNames(db, actor.orgId)
  const byName = resolved(
    asked,
    (value) => {
      const wanted = value.toLowerCase()
      return rows.filter((row) => [row.id, row.slug, row.name.toLowerCase()].includes(wanted)).map(({ id }) => id)
    },
    (value, at) => unknown(name, 'there is no project', value, at),
  )
  return Object.assign(byName, { ids: rows.map(({ id }) => id) })
}

const namesIn = (asked: readonly Naming[]): string[] => [...new Set(asked.flatMap(({ values }) => values))]

/** @throws what `refuse` makes for a name that stands for nothing */
function resolved(
  asked: readonly Naming[],
  idsOf: (value: string) => string[],
  refuse: (value: string, at: number) => Error,
  needsOne: (value: string) => boolean = () => true,
): Map<string, readonly string[]> {
  const ids = new Map<string, readonly string[]>()
  for (const { values, at } of asked)
    for (const value of values) {
      const found = idsOf(value)
      if (found.length === 0 && needsOne(value)) throw refuse(value, at)
      ids.set(value, found)
    }
  return ids
}
