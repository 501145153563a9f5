import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { severityRank } from '#shared/issue-values.ts'
import { lastSeenSince, toCountKey, isAssignedTo, isOfTeam, isUnassigned } from '../rows/issues.queries.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { askedKey } from './facts.ts'
import { factTerm, factPrefix, keyTerm, orgTerm, overflowTerm, splitSearchTerms } from './index-terms.ts'
import { escapeLike, toLikePattern } from './query-error.ts'
import { isTeam, identityKeys, namesIn, listShortIds, type Named } from './resolve-names.ts'
import { isIdentified } from './user-identities.queries.ts'
import { askedWords, isInfixPattern, needsScan } from './query-keys.ts'
import { toTimeBounds } from './query-time.ts'
import type { Facet, Field, Identity, Pattern, Query, Term, TextField } from './query.ts'

/** Compiles a query to SQL over `issues as i`. Conditions on the document become one tsquery for its index. */

export type Condition = RawBuilder<SqlBool>

export type Compiled = {
  /** A match fulfils all of them. */
  readonly conditions: readonly Condition[]
  /** A match was last seen then or later. Separate from `conditions`, because an index answers it with a coarse key. */
  readonly seenSince: Date | undefined
  /** A match's document matches it; not among `conditions`. `isSelective`: it is more than a negation. */
  readonly document: { readonly tsquery: string; readonly isSelective: boolean } | null
}

type Part =
  | { readonly kind: 'document'; readonly tsquery: string; readonly isSelective: boolean }
  | { readonly kind: 'condition'; readonly condition: Condition }

/**
 * @param found issues that match each infix pattern; a pattern that is missing matches none
 * @throws AppError invalid, with the position, for members and projects that the organisation does not have, and for
 * patterns that too many users match
 */
export async function compileQuery(
  db: Connection,
  actor: OrgActor,
  query: Query | null,
  now: Date,
  name = 'q',
  found: ReadonlyMap<Term, readonly string[]> = new Map(),
): Promise<Compiled> {
  if (query === null) return { conditions: [], seenSince: undefined, document: null }
  const compiler = new Compiler(actor, await namesIn(db, actor, collectTerms(query), name), now, found)
  const all = query.kind === 'and' ? query.parts : [query]
  const seen = all.map((part) => seenSinceOf(part, now))
  const parts = all.filter((_, index) => seen[index] === undefined).flatMap((part) => compiler.parts(part))
  const documents = parts.filter((part) => part.kind === 'document')
  return {
    conditions: parts.flatMap((part) => (part.kind === 'condition' ? [part.condition] : [])),
    seenSince: latest(seen),
    document: documents.length === 0 ? null : allOf(documents),
  }
}

/** Returns the earliest `last_seen` if the query is only that, such as `last_seen:-7d`. */
function seenSinceOf(query: Query, now: Date): Date | undefined {
  if (query.kind !== 'time' || query.field !== 'last_seen') return undefined
  const { since, before } = toTimeBounds(query.side, query.time, now)
  return before === undefined ? since : undefined
}

/** Returns the latest of the times that are defined. */
export const latest = (times: readonly (Date | undefined)[]): Date | undefined =>
  times.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined)

export function collectTerms(query: Query): Term[] {
  if (query.kind === 'and' || query.kind === 'or') return query.parts.flatMap(collectTerms)
  if (query.kind === 'not') return collectTerms(query.part)
  return [query]
}

type DocumentPart = Extract<Part, { kind: 'document' }>

const allOf = (parts: readonly DocumentPart[]): DocumentPart => ({
  kind: 'document',
  tsquery: parts.map(({ tsquery }) => `(${tsquery})`).join(' & '),
  isSelective: parts.some(({ isSelective }) => isSelective),
})

/** Whether the document of issue `i` matches, by reading the document. */
export const documentMatches = (orgId: string, tsquery: string): Condition =>
  sql<SqlBool>`exists (select from issue_search s where s.issue_id = i.id and s.document @@ ${inOrg(orgId, tsquery)}::tsquery)`

/**
 * Ids of the issues whose documents match. The tsquery is a subquery, so the planner does not know it: for words that
 * most documents contain, it would read every document instead of the index.
 */
export const issuesByIndex = (orgId: string, tsquery: string): RawBuilder<unknown> =>
  sql`select s.issue_id from issue_search s where s.document @@ (select ${inOrg(orgId, tsquery)}::tsquery)`

/** Whether the document of issue `i` matches, by reading the index once into a hash table. */
export const isFoundByIndex = (orgId: string, tsquery: string): Condition => isAmong(issuesByIndex(orgId, tsquery))

/** `is true` prevents a join, whose cost the planner cannot estimate. */
const isAmong = (ids: RawBuilder<unknown>): Condition => sql<SqlBool>`(i.id in (${ids})) is true`

/** Issues that affected a user `u` of `issue_users`. */
const issuesOfUsers = (is: Condition): RawBuilder<unknown> =>
  sql`select g.issue_id from issue_users u join issue_groups g on g.id = u.group_id where ${is}`

/** Whether issue `i` affected such a user. */
const affects = (is: Condition): Condition =>
  sql<SqlBool>`exists (select from (${issuesOfUsers(is)}) a where a.issue_id = i.id)`

const isUser = (hashes: readonly number[]): Condition => sql<SqlBool>`u.user_hash = any(${[...hashes]}::bigint[])`

/** Restricts a tsquery to the documents of an organisation. */
const inOrg = (orgId: string, tsquery: string): string => `${exact(orgTerm(orgId))} & (${tsquery})`

const exact = (term: string): string => `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
const prefix = (term: string): string => `${exact(term)}:*`

class Compiler {
  readonly #actor: OrgActor
  readonly #named: Named
  readonly #now: Date
  readonly #found: ReadonlyMap<Term, readonly string[]>

  constructor(actor: OrgActor, named: Named, now: Date, found: ReadonlyMap<Term, readonly string[]>) {
    this.#actor = actor
    this.#named = named
    this.#now = now
    this.#found = found
  }

  /** Parts that a match must all fulfil: what the index can answer is apart, so that few rows are read. */
  parts(query: Query): Part[] {
    return query.kind === 'field' && !needsScan(query)
      ? [{ kind: 'document', tsquery: wordsOf(query), isSelective: true }, condition(fieldMatches(query))]
      : [this.part(query)]
  }

  part(query: Query): Part {
    switch (query.kind) {
      case 'and':
      case 'or':
        return this.#group(query.kind, query.parts)
      case 'not': {
        const part = this.part(query.part)
        return part.kind === 'document'
          ? { kind: 'document', tsquery: `!(${part.tsquery})`, isSelective: false }
          : condition(sql<SqlBool>`not coalesce(${part.condition}, false)`)
      }
      default:
        return this.#term(query)
    }
  }

  #group(kind: 'and' | 'or', queries: readonly Query[]): Part {
    const parts = queries.map((query) => this.part(query))
    const documents = parts.filter((part) => part.kind === 'document')
    const joint: Part[] =
      documents.length === 0
        ? []
        : kind === 'and'
          ? [allOf(documents)]
          : [
              {
                kind: 'document',
                tsquery: documents.map(({ tsquery }) => `(${tsquery})`).join(' | '),
                isSelective: documents.every(({ isSelective }) => isSelective),
              },
            ]
    const all = [...joint, ...parts.filter((part) => part.kind === 'condition')]
    const [only] = all
    if (all.length === 1 && only !== undefined) return only
    const conditions = all.map((part) => this.#condition(part))
    return condition(sql<SqlBool>`(${sql.join(conditions, kind === 'and' ? sql` and ` : sql` or `)})`)
  }

  #condition(part: Part): Condition {
    return part.kind === 'condition' ? part.condition : documentMatches(this.#actor.orgId, part.tsquery)
  }

  #term(term: Term): Part {
    switch (term.kind) {
      case 'text': {
        const issue = this.#issuesNamed(term)
        if (issue.length > 0) return condition(hasIdAmong(issue))
        const words = splitSearchTerms(term.text, term.whole).map(({ word, whole }) =>
          whole ? exact(word) : prefix(word),
        )
        const tsquery = words.join(' & ')
        const users = this.#named.users.get(term)
        return users === undefined
          ? { kind: 'document', tsquery, isSelective: true }
          : condition(
              isAmong(sql`${issuesByIndex(this.#actor.orgId, tsquery)} union all ${issuesOfUsers(isUser(users))}`),
            )
      }
      case 'status':
        return condition(sql<SqlBool>`i.status = any(${[...term.values]}::text[])`)
      case 'level':
        return condition(sql<SqlBool>`i.level = any(${[...term.values]}::text[])`)
      case 'severity':
        return condition(sql<SqlBool>`i.severity = any(${term.values.map(severityRank)}::smallint[])`)
      case 'unhandled':
        return condition(sql<SqlBool>`i.is_unhandled = ${term.value}`)
      case 'platform':
        return condition(columnMatches(sql`i.platform`, term.values))
      case 'assigned':
        return condition(this.#assigned(term.values))
      case 'project':
        return condition(
          sql<SqlBool>`i.project_id = any(${term.values.flatMap((value) => this.#named.projects.get(value) ?? [])}::uuid[])`,
        )
      case 'time':
        return condition(this.#time(term))
      case 'count':
        return condition(countIs(term))
      case 'user':
        return condition(affects(isUser(this.#hashesOf(term.values))))
      case 'identity':
        return condition(affects(this.#isIdentified(term)))
      case 'issue':
        return condition(hasIdAmong(this.#issuesNamed(term)))
      case 'field':
        return needsScan(term)
          ? condition(hasIdAmong(this.#found.get(term) ?? []))
          : condition(sql<SqlBool>`(${fieldMatches(term)} and ${documentMatches(this.#actor.orgId, wordsOf(term))})`)
      case 'release':
        return this.#release(term)
      case 'facet':
        return this.#facet(term)
      case 'has':
        return term.key === 'assigned' ? condition(sql<SqlBool>`not ${isUnassigned(this.#actor.orgId)}`) : has(term.key)
    }
  }

  #assigned(values: readonly string[]): Condition {
    const { orgId } = this.#actor
    const ids = values.flatMap((value) =>
      value === 'me' ? [requireActingMember(this.#actor).userId] : (this.#named.members.get(value) ?? []),
    )
    const teams = values.filter(isTeam)
    const any = [
      ...(ids.length > 0 ? [isAssignedTo(orgId, ids)] : []),
      ...(values.includes('none') ? [isUnassigned(orgId)] : []),
      ...(teams.length > 0 ? [isOfTeam(teams.map((team) => team.slice(1)))] : []),
    ]
    return sql<SqlBool>`(${sql.join(any, sql` or `)})`
  }

  #time({ field, side, time }: Extract<Term, { kind: 'time' }>): Condition {
    const { since, before } = toTimeBounds(side, time, this.#now)
    const column = sql.ref(`i.${field}`)
    // The index holds the slot, which starts at or before the time.
    const slot = field === 'last_seen'
    const bounds = [
      ...(since === undefined ? [] : slot ? [lastSeenSince(since)] : [sql<SqlBool>`${column} >= ${since}`]),
      ...(before === undefined ? [] : [sql<SqlBool>`${column} < ${before}`]),
      ...(before === undefined || !slot ? [] : [sql<SqlBool>`i.seen_slot <= ${before}`]),
    ]
    return sql<SqlBool>`(${sql.join(bounds, sql` and `)})`
  }

  /** Users are stored as a hash of project and key. */
  #hashesOf(values: readonly string[]): number[] {
    return this.#named.projects.ids.flatMap((id) => values.map((value) => hashUser(id, value)))
  }

  #isIdentified(term: Identity): Condition {
    const found = this.#named.users.get(term)
    const ids = term.values.filter(({ glob }) => !glob).map(({ text }) => text)
    const users = [...(term.key === 'user' ? this.#hashesOf(ids) : []), ...(found ?? [])]
    if (found !== undefined) return isUser(users)
    const said = isIdentified({ projectIds: this.#named.projects.ids, keys: identityKeys(term), values: term.values })
    return users.length === 0 ? said : sql<SqlBool>`(${isUser(users)} or ${said})`
  }

  /** Ids of issues that a term names; others match nothing. */
  #issuesNamed(term: Term): string[] {
    return listShortIds(term).flatMap((name) =>
      isUuid(name.toLowerCase()) ? [name.toLowerCase()] : (this.#named.issues.get(name) ?? []),
    )
  }

  /** The document contains every release of the issue, unless there are too many. */
  #release({ field, values }: Extract<Term, { kind: 'release' }>): Part {
    const tsquery = [
      ...values.map((pattern) => patternTsquery('release', pattern)),
      exact(overflowTerm('release')),
    ].join(' | ')
    const column = sql.ref(`i.${field}`)
    const matches = sql<SqlBool>`(${columnMatches(column, values)} or ${columnMatches(column, values, '%@')})`
    // Every document fulfils the beginning of a pattern that starts with `*`.
    if (values.some(({ text, glob }) => glob && text.startsWith('*'))) return condition(matches)
    return condition(sql<SqlBool>`(${matches} and ${documentMatches(this.#actor.orgId, tsquery)})`)
  }

  #facet(term: Facet): Part {
    return term.values.some(isInfixPattern)
      ? condition(hasIdAmong(this.#found.get(term) ?? []))
      : {
          kind: 'document',
          tsquery: term.values.map((pattern) => patternTsquery(askedKey(term.key), pattern)).join(' | '),
          isSelective: true,
        }
  }
}

/** Includes the coarse key, which the index holds. */
function countIs({ field, op, value }: Extract<Term, { kind: 'count' }>): Condition {
  const [count, rank] = field === 'events' ? ['i.event_count', 'i.events_rank'] : ['i.user_count', 'i.users_rank']
  const coarse = sql.raw(op === '=' ? '=' : `${op.slice(0, 1)}=`)
  const wanted = sql`${value}::bigint`
  return sql<SqlBool>`(${sql.ref(count)} ${sql.raw(op)} ${wanted} and ${sql.ref(rank)} ${coarse} ${toCountKey(wanted)})`
}

const condition = (given: Condition): Part => ({ kind: 'condition', condition: given })

const patternTsquery = (key: string, { text, glob }: Pattern): string =>
  glob ? prefix(factPrefix(key, text.slice(0, text.indexOf('*')))) : exact(factTerm(key, text))

const FIELD_COLUMNS: Readonly<Record<TextField, readonly RawBuilder<unknown>[]>> = {
  title: [sql`i.title`],
  message: [sql`i.title`, sql`i.error_value`],
  culprit: [sql`i.culprit`],
}

/** Whether the field of issue `i` contains a value, or is like its pattern. */
export function fieldMatches({ field, values }: Field): Condition {
  const plain = values.filter(({ glob }) => !glob)
  const globs = values.filter(({ glob }) => glob)
  const any = FIELD_COLUMNS[field].flatMap((column) => [
    ...(plain.length === 0 ? [] : [columnMatches(column, plain, '%', '%')]),
    ...(globs.length === 0 ? [] : [columnMatches(column, globs)]),
  ])
  return sql<SqlBool>`coalesce((${sql.join(any, sql` or `)}), false)`
}

/** The words of a field's values, before their first `*`. */
const wordsOf = ({ values }: Field): string =>
  values
    .map((value) =>
      askedWords(value)
        .map(({ word, whole }) => (whole ? exact(word) : prefix(word)))
        .join(' & '),
    )
    .map((words) => `(${words})`)
    .join(' | ')

const columnMatches = (column: RawBuilder<unknown>, values: readonly Pattern[], before = '', after = ''): Condition =>
  sql<SqlBool>`lower(${column}) like any(${values.flatMap(({ text, glob }) =>
    // With some locales PostgreSQL lowers only ASCII.
    [text.toLowerCase(), text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())].map(
      (one) => before + (glob ? toLikePattern(one) : escapeLike(one)) + after,
    ),
  )}::text[])`

const ALWAYS = sql<SqlBool>`true`
const COLUMNS: Readonly<Record<string, Condition>> = {
  is: ALWAYS,
  level: ALWAYS,
  severity: ALWAYS,
  platform: ALWAYS,
  project: ALWAYS,
  unhandled: ALWAYS,
  handled: ALWAYS,
  first_seen: ALWAYS,
  last_seen: ALWAYS,
  age: ALWAYS,
  events: sql<SqlBool>`i.event_count > 0`,
  users: sql<SqlBool>`i.user_count > 0`,
  'user.id': sql<SqlBool>`i.user_count > 0`,
  issue: ALWAYS,
  title: ALWAYS,
  message: ALWAYS,
  culprit: sql<SqlBool>`i.culprit <> ''`,
  first_release: sql<SqlBool>`i.first_release is not null`,
  last_release: sql<SqlBool>`i.last_release is not null`,
}

function has(key: string): Part {
  if (Object.hasOwn(COLUMNS, key)) return condition(COLUMNS[key] as Condition)
  return { kind: 'document', tsquery: exact(keyTerm(askedKey(key))), isSelective: true }
}

export const hasIdAmong = (ids: readonly string[]): Condition => sql<SqlBool>`i.id = any(${[...ids]}::uuid[])`

export const not = (given: Condition): Condition => sql<SqlBool>`not ${given}`
