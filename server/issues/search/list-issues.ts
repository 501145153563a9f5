import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { TOTAL_CAP, type Page } from '../../platform/kernel/page.api.ts'
import { projectsBeingDeleted } from '../../projects/registry/project-rows.queries.ts'
import { isStatementCancelled } from '../../platform/storage/pool.ts'
import { ISSUE_STATUSES } from '#shared/issue-values.ts'
import type { Issue, IssueSort, IssueStatus, Severity } from '../rules/issue.api.ts'
import {
  decodeCursor,
  encodeCursor,
  isRangeKey,
  type RangeSortKey,
  sortKey,
  type StoredSortKey,
} from './list-cursor.ts'
import {
  countByStatus,
  issueIdsQuery,
  matchesMoreThan,
  selectIssueIds,
  selectIssues,
  selectListed,
  type IssueFilter,
} from './list.queries.ts'
import {
  type BucketSums,
  countUsersSince,
  rankByCounts,
  selectGroupsMatching,
  sumEvents,
} from './range-counts.queries.ts'
import { countUsersBetween } from '../../events/store/event-places.queries.ts'
import { latest } from './compile-query.queries.ts'
import { issuesMatching, type Matching } from './issues-matching.ts'
import { withLatestReleases } from './latest-releases.ts'
import { correctWords, placeOfWord } from './correct-words.ts'
import { parseQuery, readQuery } from './parse-query.ts'
import { type Correction, type Hint, nearest } from './query-error.ts'
import type { IssueRow } from '../rows/issues.queries.ts'
import { viewIssues } from '../rows/view-issue.ts'
import {
  type CountWindow,
  knowsUsers,
  reachesNow,
  viewWindow,
  parseChartWindow,
  type WindowInput,
} from '../rules/count-window.ts'
import { askedKey } from './facts.ts'
import type { Query } from './query.ts'
import { ALIASES, knowsKey } from './query-keys.ts'
import { SUGGESTED_KEYS } from './suggested-keys.ts'
import { tagsIn } from './suggest.ts'

/** Query parameters of the lists, as the contract parses them. */
export type ListInput = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly sort: IssueSort
  readonly status?: readonly IssueStatus[] | undefined
  readonly severity?: readonly Severity[] | undefined
  readonly projectId?: readonly string[] | undefined
  readonly assignee_id?: readonly string[] | undefined
  readonly platform?: readonly string[] | undefined
  readonly seen_since?: string | undefined
  readonly q?: string | undefined
} & WindowInput

type Filters = Omit<ListInput, 'limit' | 'offset' | 'cursor' | 'sort' | keyof WindowInput>

/** A page, and the range of its counts. */
type Listed = Page<Issue> & { readonly range: { from: string; to: string } | null }

type Found = Listed & { readonly hints: Hint[] }

/** Returns one page of the organisation's issues, the total, and the count per status. */
export async function listIssues(
  app: App,
  actor: OrgActor,
  input: ListInput,
): Promise<Found & { status_counts: Record<IssueStatus, number>; read_at: string }> {
  const readAt = app.clock.now()
  const [page, counts, hints] = await withTimeout(app, 'q', input.q, async () => {
    // The counts per status ignore the status filter, so the query must match issues of every status.
    const filter = { ...(await filterOf(app, actor, { ...input, status: undefined })), statuses: input.status }
    const found = await Promise.all([pageOfIssues(app, actor, filter, input), countByStatus(app.db, actor, filter)])
    return [...found, await hintsOf(app, actor, filter, input, found[1].total)] as const
  })
  const capped = ISSUE_STATUSES.map((status) => [status, Math.min(counts.statuses[status], TOTAL_CAP)] as const)
  return {
    ...withTotal(page, counts.total),
    status_counts: Object.fromEntries(capped) as Record<IssueStatus, number>,
    read_at: readAt.toISOString(),
    hints,
  }
}

/** Returns the same page and total without counts per status. */
export async function searchIssues(app: App, actor: OrgActor, input: ListInput): Promise<Found> {
  const [page, { total }, hints] = await withTimeout(app, 'q', input.q, async () => {
    const filter = await filterOf(app, actor, input)
    const found = await Promise.all([
      pageOfIssues(app, actor, filter, input),
      countByStatus(app.db, actor, filter, filter.statuses),
    ])
    return [...found, await hintsOf(app, actor, filter, input, found[1].total)] as const
  })
  return { ...withTotal(page, total), hints }
}

/** Hints come with the first page. */
const hintsOf = (
  app: App,
  actor: OrgActor,
  { projectIds, hiddenProjectIds, corrections = [] }: IssueFilter,
  { q = '', cursor, offset }: ListInput,
  total: number,
): Promise<Hint[]> =>
  cursor === undefined && offset === 0
    ? hintsFor(app, actor, { projectIds, hiddenProjectIds }, q, total).then((hints) => [
        ...corrections.flatMap((correction) => hintOf(q, correction)),
        ...hints,
      ])
    : Promise.resolve([])

function hintOf(text: string, { word, replacement }: Correction): Hint[] {
  const place = placeOfWord(text, word)
  const sentence = `No issue has "${word}". These have "${replacement}".`
  return place === null ? [] : [{ ...place, sentence, replacement }]
}

/**
 * Returns the ids of the issues that match the filters of the list, newest first. A list also shows what a similar word
 * finds; who changes issues has to mean the word.
 * @param name name of the query in error messages
 * @throws AppError invalid for an invalid query, or a word that no issue has and that is similar to another
 */
export async function issueIdsMatching(
  app: App,
  actor: OrgActor,
  input: Filters,
  max: number,
  name = 'q',
): Promise<string[]> {
  return withTimeout(app, name, input.q, async () => {
    const filter = await filterOf(app, actor, input, name)
    const [misspelt] = filter.corrections ?? []
    if (misspelt !== undefined)
      throw invalid(`${name}: no issue has "${misspelt.word}". Did you mean "${misspelt.replacement}"?`)
    return selectIssueIds(app.db, actor, filter, max)
  })
}

/**
 * Turns a statement timeout into an error of the query, if there is one, and logs it. HTTP requests time out earlier
 * (`service/http/bind.ts`).
 * @throws AppError invalid
 */
async function withTimeout<T>(app: App, name: string, query: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isStatementCancelled(error) || query === undefined || query.trim() === '') throw error
    app.log.warn({ err: error }, 'a search was cancelled because it took too long')
    throw invalid(`${name}: the search takes too long; narrow it by a project, a time or more words.`)
  }
}

type Uncounted = Omit<Listed, 'total' | 'total_capped'>

async function pageOfIssues(app: App, actor: OrgActor, filter: IssueFilter, input: ListInput): Promise<Uncounted> {
  if (input.cursor !== undefined && input.offset > 0) throw invalid('Send either cursor or offset, not both.')
  const asked = parseChartWindow(input, app.clock.now())
  const key = sortKey(input.sort)
  const { rows, window } = isRangeKey(key)
    ? await pageByCounts(app, actor, filter, input, { key, asked })
    : { rows: await pageByColumn(app, actor, filter, input, key), window: asked }
  const shown = rows.slice(0, input.limit)
  const last = shown.at(-1)
  return {
    items: await viewIssues(
      app,
      shown.flatMap(({ row }) => row ?? []),
      window,
    ),
    limit: input.limit,
    offset: input.offset,
    next_cursor:
      rows.length > input.limit && last !== undefined
        ? encodeCursor(input.sort, last, isRangeKey(key) ? window : null)
        : null,
    range: window === null ? null : viewWindow(window),
  }
}

type Row = {
  readonly id: string
  readonly value: Date | number
  /** Undefined for an issue that was deleted after it was counted: its place still is in the list. */
  readonly row: IssueRow | undefined
}

async function pageByColumn(
  app: App,
  actor: OrgActor,
  filter: IssueFilter,
  input: ListInput,
  key: StoredSortKey,
): Promise<Row[]> {
  const rows = await selectIssues(app.db, actor, filter, input, key)
  return rows.map((row) => ({ id: row.id, value: row[key], row }))
}

async function pageByCounts(
  app: App,
  actor: OrgActor,
  filter: IssueFilter,
  input: ListInput,
  { key, asked }: { readonly key: RangeSortKey; readonly asked: CountWindow | null },
): Promise<{ readonly rows: readonly Row[]; readonly window: CountWindow }> {
  if (asked === null) throw invalid(`sort by ${key} needs range, or from and to.`)
  const cursor = input.cursor === undefined ? null : decodeCursor(input.cursor, input.sort)
  const window = cursor?.window ?? asked
  const isDescending = input.sort.startsWith('-')
  const ranked = await rankByCounts(app.db, actor, filter, input, { key, isDescending, cursor, window })
  const rows = await selectListed(
    app.db,
    actor,
    ranked.map(({ id }) => id),
  )
  return { rows: ranked.map(({ id, count }) => ({ id, value: count, row: rows.get(id) })), window }
}

function withTotal({ items, range, ...place }: Uncounted, total: number): Listed {
  return {
    items,
    total: Math.min(total, TOTAL_CAP),
    ...(total > TOTAL_CAP ? { total_capped: true as const } : {}),
    ...place,
    range,
  }
}

/** More issues are not summed: the time it takes grows with the hours in which they had events. */
const MAX_SUMMED_ISSUES = 3_000

/** Users are counted from at most this number of events: those of a past time, and of many known users. */
const MAX_READ_EVENTS = 100_000
/** Fewer stored events than were counted: retention or an erasure has taken the others. */
const STORED_SHARE = 0.98

/**
 * Events of the issues that match the filters of the list, in a window, and their distinct users; null if these are more
 * than {@link MAX_SUMMED_ISSUES} issues.
 * @throws AppError invalid for an invalid query
 */
export async function sumIssues(
  app: App,
  actor: OrgActor,
  input: Filters,
  window: CountWindow,
  buckets: { readonly previousFrom: number; readonly bucketMs: number },
): Promise<{ readonly events: readonly BucketSums[]; readonly users: number | null } | null> {
  return withTimeout(app, 'q', input.q, async () => {
    // Others have no events in the window, nor in the one before.
    const seen_since = new Date(buckets.previousFrom).toISOString()
    const filter = await filterOf(app, actor, { ...input, seen_since })
    if (await matchesMoreThan(app.db, actor, filter, MAX_SUMMED_ISSUES)) return null
    const sums = sumEvents(app.db, actor, filter, window, buckets)
    const [events, users] = await Promise.all([sums, countUsers(app, actor, filter, window, () => sums)])
    return { events, users }
  })
}

/**
 * Distinct users of all issues of projects in a window; null if these are more than {@link MAX_SUMMED_ISSUES} issues, or
 * not known.
 */
export async function countUsersOfProjects(
  app: App,
  actor: OrgActor,
  projectId: readonly string[] | undefined,
  window: CountWindow,
): Promise<number | null> {
  const { from, to } = window
  const filter = await filterOf(app, actor, { projectId, seen_since: new Date(from).toISOString() })
  if (await matchesMoreThan(app.db, actor, filter, MAX_SUMMED_ISSUES)) return null
  // One bucket is enough, and most times need none.
  const sums = () => sumEvents(app.db, actor, filter, window, { previousFrom: from, bucketMs: to - from })
  return countUsers(app, actor, filter, window, sums)
}

/** @param sums of the events in the window, where they are needed */
async function countUsers(
  app: App,
  actor: OrgActor,
  filter: IssueFilter,
  window: CountWindow,
  sums: () => Promise<readonly BucketSums[]>,
): Promise<number | null> {
  const now = app.clock.now()
  if (!knowsUsers(window, now)) return null
  const ofEvents = async () => usersOfEvents(app, actor, filter, window, await sums())
  return reachesNow(window, now) ? countUsersSince(app.db, actor, filter, window, { ofEvents }) : ofEvents()
}

/** Distinct users of the events of a window; null if these are too many, or not stored any more. */
async function usersOfEvents(
  app: App,
  actor: OrgActor,
  filter: IssueFilter,
  { from, to }: CountWindow,
  buckets: readonly BucketSums[],
): Promise<number | null> {
  const total = buckets.reduce((sum, { bucket, events }) => (bucket < 0 ? sum : sum + events), 0)
  if (total === 0 || total > MAX_READ_EVENTS) return total === 0 ? 0 : null
  const counted = await countUsersBetween(app.db, await selectGroupsMatching(app.db, actor, filter), {
    since: new Date(from),
    until: new Date(to),
    max: MAX_READ_EVENTS,
  })
  return counted === null || counted.events < total * STORED_SHARE ? null : counted.users
}

/** @throws AppError invalid for an invalid query, with the position */
async function filterOf(app: App, actor: OrgActor, input: Filters, name = 'q'): Promise<IssueFilter> {
  const userIds = (ids: readonly string[]) =>
    ids.map((id) => (id === 'none' ? null : id === 'me' ? requireActingMember(actor).userId : id))
  const hiddenProjectIds = input.projectId === undefined ? await projectsBeingDeleted(app.db, actor.orgId) : []
  const filterBy = ({ seenSince, conditions }: Matching): IssueFilter => ({
    projectIds: input.projectId,
    hiddenProjectIds,
    statuses: input.status,
    severities: input.severity,
    platforms: input.platform,
    assignees: input.assignee_id === undefined ? undefined : userIds(input.assignee_id),
    seenSince: latest([input.seen_since === undefined ? undefined : new Date(input.seen_since), seenSince]),
    conditions,
  })
  const query = await withLatestReleases(app.db, actor, parseQuery(input.q ?? '', name), input.projectId)
  const match = (query: Query | null) => {
    const idsOf = (matching: Matching) => issueIdsQuery(app.db, actor, filterBy(matching))
    return issuesMatching(app.db, actor, query, app.clock.now(), idsOf, name)
  }
  const matching = await match(query)
  if (query === null || matching.isNone !== true) return filterBy(matching)
  const scope = { projectIds: input.projectId, hiddenProjectIds }
  const isFound = async (word: Query) => (await match(word)).isNone !== true
  const corrected = await correctWords(app.db, actor, query, scope, isFound)
  if (corrected === null) return filterBy(matching)
  return { ...filterBy(await match(corrected.query)), corrections: corrected.corrections }
}

/** Unknown keys of one query that are looked up. */
const MAX_KEYS = 5

/**
 * Returns a hint for each key of a query that is neither built in nor a tag of an issue in the scope.
 * @param scope the projects of the list
 * @param total number of matches: what a match fulfils is known
 */
async function hintsFor(
  app: App,
  actor: OrgActor,
  scope: Pick<IssueFilter, 'projectIds' | 'hiddenProjectIds'>,
  text: string,
  total: number,
): Promise<Hint[]> {
  const { query, keys } = readQuery(text)
  const fulfilled = new Set(total > 0 && query !== null ? (query.kind === 'and' ? query.parts : [query]) : [])
  const unknown = keys.filter(({ key, term }) => !knowsKey(key) && !fulfilled.has(term))
  const missing = new Set<string>()
  for (const key of [...new Set(unknown.map((place) => place.key))].slice(0, MAX_KEYS))
    if (!(await isTag(app, actor, scope, key))) missing.add(key)
  if (missing.size === 0) return []
  const tags = await tagsIn(app, actor, scope)
  const choices = [...Object.keys(SUGGESTED_KEYS), ...Object.keys(ALIASES), ...tags]
  return unknown
    .filter(({ key }) => missing.has(key))
    .map(({ key, start, end }) => {
      const replacement = nearest(key, choices)
      const name = key.slice(0, 50)
      const sentence =
        replacement === null ? `No issue has the tag "${name}".` : `No tag "${name}". Did you mean ${replacement}?`
      return { start, end, sentence, replacement }
    })
}

/** Whether an issue in the scope has the tag. */
async function isTag(app: App, actor: OrgActor, scope: IssueFilter, key: string): Promise<boolean> {
  const query: Query = { kind: 'has', key: askedKey(key) }
  const filterBy = ({ seenSince, conditions }: Matching): IssueFilter => ({ ...scope, seenSince, conditions })
  const idsOf = (matching: Matching) => issueIdsQuery(app.db, actor, filterBy(matching))
  const matching = await issuesMatching(app.db, actor, query, app.clock.now(), idsOf)
  return (await selectIssueIds(app.db, actor, filterBy(matching), 1)).length > 0
}
