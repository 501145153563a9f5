import { isIP } from 'node:net'
import { selectIssuesNamed, selectMembersNamed, selectProjectNames, SHORT_ID } from './resolve-names.queries.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { USER_KEYS, type UserKey } from './facts.ts'
import { printQuery } from './print-query.ts'
import { queryError, type Span } from './query-error.ts'
import type { Identity, Term } from './query.ts'
import { selectUsersIdentified } from './user-identities.queries.ts'

/** Members, projects, issues and users that a query names within the actor's organisation. */
export type Named = {
  /** Ids of members. */
  readonly members: ReadonlyMap<string, readonly string[]>
  /** Ids of projects; and the ids of all projects, which searches by user need. */
  readonly projects: ReadonlyMap<string, readonly string[]> & { readonly ids: readonly string[] }
  /** Ids of issues by short id, in upper case. */
  readonly issues: ReadonlyMap<string, string>
  /** Hashes of users of apps. Missing for values that too many users have, and for texts that no user has. */
  readonly users: ReadonlyMap<Term, readonly number[]>
}

/** Maximum of identities of users that one query reads. */
const MAX_IDENTITIES = 10_000

/**
 * Looks up what the terms of a query name.
 * @throws AppError invalid, with the position, for an unknown member or project, and for patterns with more than
 * {@link MAX_IDENTITIES}
 */
export async function namesIn(db: Connection, actor: OrgActor, terms: readonly Term[], name: string): Promise<Named> {
  const members = await membersNamed(db, actor, terms, name)
  const projects = await projectsNamed(db, actor, terms, name)
  const issues = await selectIssuesNamed(db, actor.orgId, [...new Set(terms.flatMap(listShortIds))])
  return { members, projects, issues, users: await usersNamed(db, projects.ids, terms, name) }
}

/** Short ids that a term names: a text that looks like one may name an issue. */
export function listShortIds(term: Term): string[] {
  if (term.kind === 'issue') return [...term.values]
  return term.kind === 'text' && !term.whole && SHORT_ID.test(term.text) ? [term.text.toUpperCase()] : []
}

type Naming = { readonly values: readonly string[]; readonly at: Span }

const unknown = (name: string, what: string, value: string, at: Span) =>
  queryError(name, `${what} "${value.slice(0, 100)}"`, at)

/** Values that need no lookup: `me`, `none` and teams (`#web`). */
export const isTeam = (value: string): boolean => value.startsWith('#')
const isKeyword = (value: string): boolean => value === 'me' || value === 'none' || isTeam(value)

/**
 * Returns ids of active members by address, name (any case) or id. Several members may have the same name.
 * @throws AppError invalid for an unknown member
 */
async function membersNamed(
  db: Connection,
  actor: OrgActor,
  terms: readonly Term[],
  name: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const namings = terms.filter((term) => term.kind === 'assigned')
  const values = valuesOf(namings).filter((value) => !isKeyword(value))
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
 * Returns ids of projects by slug, name or id, and of all projects if the query searches by user.
 * @throws AppError invalid for an unknown project
 */
async function projectsNamed(
  db: Connection,
  actor: OrgActor,
  terms: readonly Term[],
  name: string,
): Promise<Named['projects']> {
  const namings = terms.filter((term) => term.kind === 'project')
  if (namings.length === 0 && !terms.some(needsProjects)) return Object.assign(new Map(), { ids: [] })
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

/** Texts that may be an address of a user, beside terms of users. */
const isAddress = (term: Term): term is Extract<Term, { kind: 'text' }> =>
  term.kind === 'text' && (/^[^\s@]+@[^\s@]+$/.test(term.text) || isIP(term.text) !== 0)
const needsProjects = (term: Term): boolean => term.kind === 'user' || term.kind === 'identity' || isAddress(term)

/** @throws AppError invalid, with the position, for patterns with more than {@link MAX_IDENTITIES} */
async function usersNamed(
  db: Connection,
  projectIds: readonly string[],
  terms: readonly Term[],
  name: string,
): Promise<Named['users']> {
  const users = new Map<Term, readonly number[]>()
  let left = MAX_IDENTITIES
  for (const term of terms) {
    if (term.kind !== 'identity' && !isAddress(term)) continue
    const filter =
      term.kind === 'identity'
        ? { projectIds, keys: identityKeys(term), values: term.values }
        : { projectIds, keys: USER_KEYS, values: [{ text: term.text, glob: false }] }
    const found = await selectUsersIdentified(db, filter, left)
    left -= found?.read ?? 0
    if (found !== null) {
      if (term.kind === 'identity' || found.hashes.length > 0) users.set(term, found.hashes)
    } else if (term.kind === 'identity' && term.values.some(({ glob }) => glob))
      throw queryError(
        name,
        `${printQuery(term).slice(0, 100)} would search more than ${MAX_IDENTITIES.toLocaleString('en')} users; write more before the *`,
        term.at,
      )
  }
  return users
}

/** The keys of what events say about users that a term asks for. */
export const identityKeys = ({ key }: Identity): readonly UserKey[] => (key === 'user' ? USER_KEYS : [key])

const valuesOf = (namings: readonly Naming[]): string[] => [...new Set(namings.flatMap(({ values }) => values))]

/** @throws what `refuse` returns for an unknown name */
function resolved(
  namings: readonly Naming[],
  idsOf: (value: string) => string[],
  refuse: (value: string, at: Span) => Error,
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
