import { isIP } from 'node:net'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { projectsBeingDeleted } from '../../projects/registry/project-rows.queries.ts'
import { selectProjectNames } from './resolve-names.queries.ts'
import { nameMembers } from '../../identity/team/members.queries.ts'
import { ANY_DAY } from '../../events/store/event-places.queries.ts'
import { type StoredEvent, readStoredEvent } from '../../events/store/event.ts'
import { newestEvents } from '../../events/store/store.queries.ts'
import { askedKey, listEventFacts, isOwnKey, isUserKey, type Fact } from './facts.ts'
import { factPrefix, keyOfTerm, keyTerm, valueOfTerm, valuePart } from './index-terms.ts'
import { issuesMatching, type Matching } from './issues-matching.ts'
import { countColumn, issueIdsQuery, selectIssueIds, type CountedColumn, type IssueFilter } from './list.queries.ts'
import { quotedIfNeeded } from './print-query.ts'
import type { Query } from './query.ts'
import { ALIASES, resolveKeyAlias } from './query-keys.ts'
import { SUGGESTED_KEYS } from './suggested-keys.ts'
import { countTerms } from './search.queries.ts'

/** Suggestions while a query is typed: keys, and values of a key, with the number of issues. */

export type Suggestion = {
  /** As a query writes it. */
  readonly text: string
  readonly count: number | null
  /** The meaning of the text, if the text does not say it. */
  readonly label: string | null
}

export type Suggestions = {
  readonly items: Suggestion[]
  /** The newest issues of the scope, of which the counts are. */
  readonly counted_issues: number
  /** Whether these are all issues of the scope, or all with such a value. */
  readonly complete: boolean
}

type SuggestionInput = {
  readonly projectId?: readonly string[] | undefined
  readonly key?: string | undefined
  readonly prefix: string
  readonly limit: number
}

/** Documents that are read, about 40 µs each. */
const MAX_DOCUMENTS = 500
/** Issues whose columns are counted, by an index that holds them. */
const MAX_ROWS = 10_000
/** Events that are read for how they write values, and their JSON in bytes. */
const MAX_EVENTS = 20
const MAX_BYTES = 256 * 1024
const MAX_MEMBERS = 1_000
/** Terms that are read, of which some are not suggested. */
const MAX_TERMS = 400

type Scope = { readonly app: App; readonly actor: OrgActor; readonly filter: IssueFilter }
type Counted = {
  readonly counts: ReadonlyMap<string, number>
  readonly issues: number
  readonly isAll: boolean
  /** By value, an issue with it. */
  readonly issueIds?: ReadonlyMap<string, string>
}

/**
 * Suggests keys, or values of `key`, that begin with `prefix`; keys also where it is inside. Reads a bounded number of
 * issues, the newest. Values that identify users of apps are never suggested.
 */
export async function suggestTerms(app: App, actor: OrgActor, input: SuggestionInput): Promise<Suggestions> {
  const hiddenProjectIds = await projectsBeingDeleted(app.db, actor.orgId)
  const scope: Scope = { app, actor, filter: { projectIds: input.projectId, hiddenProjectIds } }
  const key = input.key === undefined ? undefined : resolveKeyAlias(input.key.toLowerCase())
  const { items, counted } =
    key === undefined || key === 'has'
      ? await keysIn(scope, input.prefix)
      : await valuesIn(scope, key, input.prefix, input.limit)
  return {
    items: items.slice(0, input.limit),
    counted_issues: counted?.issues ?? 0,
    complete: counted?.isAll ?? true,
  }
}

type Found = { readonly items: Suggestion[]; readonly counted: Counted | null }

/** Keys that a query can name. */
const KEY = /^[a-z_][a-z0-9_.-]*$/

async function keysIn(scope: Scope, prefix: string): Promise<Found> {
  const wanted = prefix.toLowerCase()
  const counted = await countDocuments(scope, null, keyTerm(''), keyOfTerm)
  const own = Object.entries(SUGGESTED_KEYS).map(([text, { label }]): Suggestion => {
    // Documents do not hold the ids of users.
    const isCounted = isOwnKey(text) && text !== 'user.id'
    return { text, count: isCounted ? (counted.counts.get(text) ?? 0) : null, label }
  })
  const tags = [...counted.counts]
    .filter(([key]) => !isOwnKey(key) && KEY.test(key))
    .map(([text, count]): Suggestion => ({ text, count, label: null }))
  const rankOf = ({ text }: Suggestion): number => {
    if (text.startsWith(wanted)) return 0
    const isAlias = Object.entries(ALIASES).some(([alias, key]) => key === text && alias.startsWith(wanted))
    return isAlias ? 1 : text.includes(wanted) ? 2 : 3
  }
  const items = [...own, ...tags]
    .map((item) => ({ item, rank: rankOf(item) }))
    .filter(({ rank }) => rank < 3)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
  return { items, counted }
}

/** Keys of tags in the newest issues. */
export async function tagsIn(app: App, actor: OrgActor, filter: IssueFilter): Promise<string[]> {
  const { counts } = await countDocuments({ app, actor, filter }, null, keyTerm(''), keyOfTerm)
  return [...counts.keys()].filter((key) => !isOwnKey(key) && KEY.test(key))
}

const COLUMNS: Readonly<Record<string, CountedColumn>> = {
  is: 'status',
  level: 'level',
  severity: 'severity',
  platform: 'platform',
}

async function valuesIn(scope: Scope, key: string, prefix: string, limit: number): Promise<Found> {
  if (key === 'project') return { items: await projectsNamed(scope, prefix), counted: null }
  if (key === 'assigned') return { items: await assigneesNamed(scope, prefix), counted: null }
  if (isPersonal(key)) return { items: [], counted: null }
  const column = Object.hasOwn(COLUMNS, key) ? COLUMNS[key] : undefined
  const known = Object.hasOwn(SUGGESTED_KEYS, key) ? SUGGESTED_KEYS[key]?.values : undefined
  const counted =
    column !== undefined
      ? await countIssues(scope, column)
      : known === undefined
        ? await countFacts(scope, key, prefix)
        : null
  const values = (known ?? [...(counted?.counts.keys() ?? [])])
    .filter((value) => value.toLowerCase().startsWith(valuePart(prefix)))
    .slice(0, limit)
  const written = await writtenAs(scope.app, factOf(key), values, counted)
  const items = values.map((value): Suggestion => {
    const shown = written.get(value) ?? value
    const text = known === undefined ? quotedIfNeeded(shown) : value
    // A status may also be asked for by words that are none.
    const isCounted = column !== 'status' || counted?.counts.has(value) === true
    return {
      text,
      count: counted === null || !isCounted ? null : (counted.counts.get(value) ?? 0),
      label: text === shown ? null : shown,
    }
  })
  return { items, counted }
}

/** Counts the newest issues by a column. */
async function countIssues({ app, actor, filter }: Scope, column: CountedColumn): Promise<Counted> {
  const counts = await countColumn(app.db, actor, filter, column, MAX_ROWS + 1)
  const issues = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return { counts, issues: Math.min(issues, MAX_ROWS), isAll: issues <= MAX_ROWS }
}

const factOf = (key: string): string => askedKey(key === 'first_release' || key === 'last_release' ? 'release' : key)

/**
 * Returns values as events wrote them, which documents hold in lower case: those that the newest events of issues with
 * them have.
 */
async function writtenAs(
  app: App,
  fact: string,
  values: readonly string[],
  counted: Counted | null,
): Promise<Map<string, string>> {
  const written = new Map<string, string>()
  const issueIds = values
    .filter((value) => /\p{L}/u.test(value))
    .flatMap((value) => counted?.issueIds?.get(value) ?? [])
  if (issueIds.length === 0) return written
  const sources = { issueIds: [...new Set(issueIds)].slice(0, MAX_EVENTS), oldestDay: ANY_DAY }
  for (const stored of await newestEvents(app.db, sources, { limit: MAX_EVENTS, maxBytes: MAX_BYTES, maxBlocks: 3 }))
    for (const [key, value] of factsIn(stored)) if (key === fact) written.set(valuePart(value), value)
  return written
}

/** None for a damaged event. */
function factsIn(stored: StoredEvent): readonly Fact[] {
  try {
    return listEventFacts(readStoredEvent(stored))
  } catch {
    return []
  }
}

/** Values of a fact that begin with a text, in the newest issues that have one. */
async function countFacts(scope: Scope, key: string, prefix: string): Promise<Counted> {
  const fact = factOf(key)
  const isTag = !isOwnKey(fact)
  const query: Query =
    prefix === ''
      ? { kind: 'has', key: fact }
      : { kind: 'facet', key: fact, values: [{ text: `${prefix.replaceAll('*', '')}*`, glob: true }] }
  const counted = await countDocuments(scope, query, factPrefix(fact, prefix), valueOfTerm)
  const counts = new Map(
    [...counted.counts].filter(
      ([value]) =>
        value !== '' &&
        !(isTag && isAddress(value)) &&
        // A release is among the facts also without its package.
        !(fact === 'release' && [...counted.counts.keys()].some((other) => other.endsWith(`@${value}`))),
    ),
  )
  return { ...counted, counts }
}

/** Counts what `valueOf` takes from the terms with a beginning, in the newest issues that match. */
async function countDocuments(
  { app, actor, filter }: Scope,
  query: Query | null,
  beginning: string,
  valueOf: (term: string) => string,
): Promise<Counted> {
  const filterBy = ({ seenSince, conditions }: Matching): IssueFilter => ({ ...filter, seenSince, conditions })
  const idsOf = (matching: Matching) => issueIdsQuery(app.db, actor, filterBy(matching))
  const matching = await issuesMatching(app.db, actor, query, app.clock.now(), idsOf)
  const ids = await selectIssueIds(app.db, actor, filterBy(matching), MAX_DOCUMENTS + 1)
  const read = ids.slice(0, MAX_DOCUMENTS)
  const terms = read.length === 0 ? [] : await countTerms(app.db, read, beginning, MAX_TERMS)
  return {
    counts: new Map(terms.map(({ term, issues }) => [valueOf(term), issues])),
    issueIds: new Map(terms.map(({ term, issueId }) => [valueOf(term), issueId])),
    issues: read.length,
    isAll: ids.length <= MAX_DOCUMENTS,
  }
}

/** Keys of tags as apps name them: `user`, `userId`, `current_user_name`, `uid`, `client.ip`. */
const PERSONAL = /(^|[._-])(user(s?$|[._-]|id|name|mail)|uid$|ip($|[._-]))|e-?mail/

/** Whether values of the key identify users of apps. */
function isPersonal(key: string): boolean {
  const asked = askedKey(key)
  return asked === 'user.id' || isUserKey(asked) || PERSONAL.test(asked)
}

/** Whether a tag holds an e-mail or IP address. */
const isAddress = (value: string): boolean => /^[^\s@]+@[^\s@]+$/.test(value) || isIP(value) !== 0

/** Slugs of projects that begin with the text, or whose name does. */
async function projectsNamed({ app, actor, filter }: Scope, prefix: string): Promise<Suggestion[]> {
  const wanted = prefix.toLowerCase()
  const rows = await selectProjectNames(app.db, actor.orgId)
  return rows
    .filter(({ id }) => filter.projectIds === undefined || filter.projectIds.includes(id))
    .filter(({ slug, name }) => slug.startsWith(wanted) || name.toLowerCase().startsWith(wanted))
    .toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
    .map(({ slug, name }) => ({ text: slug, count: null, label: name }))
}

/** Me, none, members by name, and teams that ownership rules named. */
async function assigneesNamed({ app, actor, filter }: Scope, prefix: string): Promise<Suggestion[]> {
  const wanted = prefix.toLowerCase()
  const [members, teams] = await Promise.all([
    nameMembers(app.db, actor.orgId, MAX_MEMBERS),
    countColumn(app.db, actor, filter, 'assignee_team', MAX_DOCUMENTS),
  ])
  const names = members.map(({ name }) => name).filter((name) => ` ${name.toLowerCase()}`.includes(` ${wanted}`))
  const marked = [...teams.keys()].map((team) => `#${team.replace(/^#+/, '')}`)
  const others = ['me', 'none', ...marked].filter((text) => text.toLowerCase().startsWith(wanted))
  return [...new Set([...others, ...names])].map((name): Suggestion => {
    const text = others.includes(name) && !name.includes(' ') ? name : quotedIfNeeded(name)
    return { text, count: null, label: text === name ? null : name }
  })
}
