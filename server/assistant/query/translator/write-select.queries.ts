import { VIEWS, type ViewName } from '../catalogue.ts'
import type { Dimension, Measure } from './vocabulary.ts'
import type { TimeSpan } from './times.ts'
import type { Bound, Filter, Intent } from './understand-question.ts'

/** From what a question asks for to a statement over the views. Pure: it runs nothing. */

export type Statement = {
  readonly sql: string
  readonly explanation: string
  readonly chartHint: {
    readonly kind: 'bar' | 'line' | 'number' | 'table'
    readonly x: string | null
    readonly y: string | null
  }
}

/** The question asks for what the views do not hold. */
type Impossible = { readonly problem: string }

/** How users are named in the views. */
export type UserKey = (userId: string) => string

const DEFAULT_DAYS = 30
const MAX_GROUPS = 100
const MAX_LISTED = 50

/** Times of performance, by the `kind` of their rows. */
const KINDS: Partial<Record<Measure, string>> = {
  transactions: 'transaction',
  cold_start: 'cold_start',
  warm_start: 'warm_start',
  screen_initial: 'screen_initial',
  screen_full: 'screen_full',
  lcp: 'lcp',
  fcp: 'fcp',
  ttfb: 'ttfb',
  inp: 'inp',
  cls: 'cls',
  battery_drain: 'battery_drain',
  failure_rate: 'transaction',
  failed_transactions: 'transaction',
  anrs: 'anr',
  low_memory: 'low_memory',
  slow_frames: 'frames_slow',
  frozen_frames: 'frames_frozen',
}

const NAMES: Readonly<Record<Measure, string>> = {
  events: 'events',
  crashes: 'crashes (fatal events)',
  users: 'affected users',
  issues: 'issues',
  releases: 'releases',
  sessions: 'sessions',
  active_users: 'users with sessions',
  crashed_sessions: 'crashed sessions',
  crash_free_sessions: 'sessions without a crash, in percent',
  crash_free_users: 'users without a crash, in percent of users with sessions',
  crash_rate: 'crashed sessions, in percent',
  adoption: 'share of sessions, in percent',
  session_share: 'share of sessions, in percent',
  session_length: 'duration of sessions in ms',
  anrs: 'ANRs',
  anr_rate: 'sessions with an ANR, in percent',
  transactions: 'duration of transactions in ms',
  failure_rate: 'failed transactions, in percent',
  failed_transactions: 'failed transactions',
  cold_start: 'cold starts in ms',
  warm_start: 'warm starts in ms',
  screen_initial: 'time to initial display in ms',
  screen_full: 'time to full display in ms',
  lcp: 'largest contentful paint in ms',
  fcp: 'first contentful paint in ms',
  ttfb: 'time to first byte in ms',
  inp: 'interaction to next paint in ms',
  cls: 'cumulative layout shift',
  slow_frames: 'slow frames',
  frozen_frames: 'frozen frames',
  low_memory: 'low-memory warnings',
  battery_drain: 'battery drain in percent per hour',
}

const DIMENSION_NAMES: Readonly<Record<Dimension | 'unhandled', string>> = {
  release: 'release',
  first_release: 'first release',
  environment: 'environment',
  os: 'operating system',
  device: 'device',
  device_class: 'device class',
  level: 'level',
  platform: 'platform',
  status: 'status',
  severity: 'severity',
  exception_type: 'exception type',
  issue: 'issue',
  user: 'user',
  screen: 'screen',
  transaction: 'transaction or screen',
  operation: 'operation',
  session_status: 'session status',
  assignee: 'assignee',
  unhandled: 'unhandled',
}

/** The view that answers a measure. */
function viewOf(measure: Measure): ViewName {
  if (measure === 'issues' || measure === 'releases') return measure
  if (measure === 'events' || measure === 'crashes' || measure === 'users') return 'events'
  return KINDS[measure] === undefined ? 'app_sessions' : 'performance'
}

/** The column of a dimension in a view. */
function columnOf(view: ViewName, dimension: Dimension): string | null {
  const name =
    dimension === 'exception_type' && view === 'issues'
      ? 'error_type'
      : dimension === 'user'
        ? 'user_key'
        : dimension === 'issue'
          ? view === 'issues'
            ? 'short_id'
            : 'issue_id'
          : dimension === 'screen' || dimension === 'transaction'
            ? 'name'
            : dimension === 'session_status'
              ? 'status'
              : dimension === 'release' && view === 'releases'
                ? 'version'
                : dimension
  if ((dimension === 'session_status') !== (view === 'app_sessions') && name === 'status' && view !== 'issues')
    return null
  if (dimension === 'session_status' && view === 'issues') return null
  return VIEWS[view].columns.some((column) => column.name === name) ? name : null
}

/** Control characters have no place in a statement. */
const literal = (text: string): string => `'${text.replaceAll(/\p{Cc}/gu, ' ').replaceAll("'", "''")}'`

function oneOf(column: string, values: readonly string[], isNot: boolean): string {
  const list = [...new Set(values)].map(literal)
  if (list.length === 1) return isNot ? `${column} is distinct from ${list[0]}` : `${column} = ${list[0]}`
  return isNot ? `(${column} is null or ${column} not in (${list.join(', ')}))` : `${column} in (${list.join(', ')})`
}

function timeConditions(column: string, { from, to }: TimeSpan): string[] {
  return [
    ...(from === null ? [] : [`${column} >= ${literal(from.toISOString())}`]),
    ...(to === null ? [] : [`${column} < ${literal(to.toISOString())}`]),
  ]
}

const joined = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`

class Impossibility extends Error {}
const impossible = (sentence: string): never => {
  throw new Impossibility(sentence)
}

/** Filters of one dimension are alternatives. */
function mergeFilters(filters: readonly Filter[]): Filter[] {
  const merged = new Map<string, Filter>()
  for (const one of filters) {
    const key = `${one.dimension === 'screen' ? 'transaction' : one.dimension} ${one.isNot}`
    merged.set(key, { ...one, values: [...(merged.get(key)?.values ?? []), ...one.values] })
  }
  return [...merged.values()]
}

/** The conditions of filters in a view. Those that another view holds choose its issues. */
function conditionsOf(view: ViewName, filters: readonly Filter[], span: TimeSpan | null, userKey: UserKey): string[] {
  const own: string[] = []
  const elsewhere: string[] = []
  const other: ViewName = view === 'issues' ? 'events' : 'issues'
  for (const filter of mergeFilters(filters)) {
    const { dimension, isNot } = filter
    const values = dimension === 'user' ? filter.values.map(userKey) : filter.values
    const here = dimension === 'unhandled' ? null : columnOf(view, dimension)
    const isIssue = dimension === 'issue' && view !== 'issues'
    if (dimension === 'unhandled' && view === 'issues') own.push(isTrue((values[0] === 'true') !== isNot))
    else if (here !== null && !isIssue) own.push(oneOf(here, values, isNot))
    else if (view !== 'issues' && view !== 'events')
      return impossible(`${VIEW_WORDS[view]} are not known by ${DIMENSION_NAMES[dimension]}`)
    else {
      const there = dimension === 'unhandled' ? null : columnOf(other, dimension)
      if (dimension === 'unhandled') elsewhere.push(isTrue((values[0] === 'true') !== isNot))
      else if (there === null) return impossible(`${VIEW_WORDS[view]} are not known by ${DIMENSION_NAMES[dimension]}`)
      // Issues without such events, not issues with other events.
      else if (isNot && view === 'issues')
        own.push(
          `id not in (select issue_id ${from(other)}${joined([oneOf(there, values, false), 'issue_id is not null'])})`,
        )
      else elsewhere.push(oneOf(there, values, isNot))
    }
  }
  if (elsewhere.length > 0)
    own.push(
      view === 'issues'
        ? `id in (select issue_id ${from(other)}${joined([...elsewhere, ...(span === null ? [] : timeConditions('time', span))])})`
        : `issue_id in (select id ${from(other)}${joined(elsewhere)})`,
    )
  return own
}

const isTrue = (value: boolean): string => (value ? 'is_unhandled' : 'not is_unhandled')
const from = (view: ViewName): string => `from ${view}`

const VIEW_WORDS: Readonly<Record<ViewName, string>> = {
  issues: 'issues',
  events: 'events',
  app_sessions: 'sessions',
  performance: 'measurements',
  releases: 'releases',
}

const percent = (part: string, whole: string): string => `round((100.0 * (${part}) / nullif(${whole}, 0))::numeric, 2)`

/** Columns of a measure: expressions with their names. The first is what rows are ordered by. */
type Shown = readonly (readonly [name: string, expression: string])[]

function columnsOf(
  measure: Measure,
  { figure, order, isPair }: { figure: Intent['figure']; order: Intent['order']; isPair: boolean },
): Shown {
  switch (measure) {
    case 'events':
    case 'issues':
    case 'sessions':
    case 'releases':
      return [[measure, 'count(*)']]
    case 'crashes':
      return [['crashes', isPair ? "count(*) filter (where level = 'fatal')" : 'count(*)']]
    case 'users':
    case 'active_users':
      return [['users', 'count(distinct user_key)']]
    case 'crashed_sessions':
      return [['crashed_sessions', "count(*) filter (where status = 'crashed')"]]
    case 'crash_free_sessions':
      return [
        ['crash_free_percent', percent("count(*) filter (where status <> 'crashed')", 'count(*)')],
        ['sessions', 'count(*)'],
      ]
    case 'crash_rate':
      return [
        ['crash_percent', percent("count(*) filter (where status = 'crashed')", 'count(*)')],
        ['sessions', 'count(*)'],
      ]
    case 'anr_rate':
      return [
        ['anr_percent', percent('count(*) filter (where is_anr)', 'count(*)')],
        ['sessions', 'count(*)'],
      ]
    case 'crash_free_users':
      return [
        [
          'crash_free_percent',
          percent(
            "count(distinct user_key) - count(distinct user_key) filter (where status = 'crashed')",
            'count(distinct user_key)',
          ),
        ],
        ['users', 'count(distinct user_key)'],
      ]
    case 'failure_rate':
      return [
        ['failure_percent', percent('count(*) filter (where is_failed)', 'count(*)')],
        ['transactions', 'count(*)'],
      ]
    case 'failed_transactions':
      return [['failed_transactions', 'count(*) filter (where is_failed)']]
    case 'adoption':
    case 'session_share':
      return [['sessions', 'count(*)']]
    case 'anrs':
    case 'low_memory':
      return [[measure, 'count(*)']]
    case 'slow_frames':
    case 'frozen_frames':
      return [[measure, 'sum(value)']]
    default:
      return spreadOf(measure, figure, order)
  }
}

/** Quantiles of a time, or the figure that was asked for. */
function spreadOf(measure: Measure, figure: Intent['figure'], order: Intent['order']): Shown {
  const value = measure === 'session_length' || isTime(measure) ? 'duration_ms' : 'value'
  const unit = value === 'duration_ms' ? '_ms' : ''
  const digits = measure === 'cls' ? 4 : 1
  const rounded = (expression: string): string => `round((${expression})::numeric, ${digits})`
  const quantile = (q: number): readonly [string, string] => [
    `p${q}${unit}`,
    rounded(`percentile_cont(${q / 100}) within group (order by ${value})`),
  ]
  const counted = ['count', `count(${value})`] as const
  switch (figure) {
    case 'count':
      return [counted]
    case 'average':
      return [[`average${unit}`, rounded(`avg(${value})`)], counted]
    case 'maximum':
      return [[`maximum${unit}`, rounded(`max(${value})`)], counted]
    case 'minimum':
      return [[`minimum${unit}`, rounded(`min(${value})`)], counted]
    case 'p50':
    case 'p75':
    case 'p90':
    case 'p95':
    case 'p99':
      return [quantile(Number(figure.slice(1))), counted]
    default:
      return order === null
        ? [quantile(50), quantile(75), quantile(95), counted]
        : [quantile(95), quantile(50), counted]
  }
}

/** Names of counted times. */
const COUNTED: Partial<Record<Measure, string>> = {
  transactions: 'transactions',
  session_length: 'ended sessions',
  screen_initial: 'screens that were shown',
}

const NOT_TIMES: ReadonlySet<Measure> = new Set<Measure>(['cls', 'battery_drain'])
const isSpread = (measure: Measure): boolean =>
  columnsOf(measure, { figure: 'count', order: null, isPair: false })[0]?.[0] === 'count'
const isTime = (measure: Measure): boolean => !NOT_TIMES.has(measure)

/**
 * The statement that answers an intent.
 * @param now for spans without an end and for the span that is used where none is named
 */
export function writeSelect(intent: Intent, now: Date, userKey: UserKey): Statement | Impossible {
  try {
    return new Writer(intent, now, userKey).write()
  } catch (error) {
    if (error instanceof Impossibility) return { problem: error.message }
    throw error
  }
}

class Writer {
  readonly #intent: Intent
  readonly #now: Date
  readonly #userKey: UserKey

  constructor(intent: Intent, now: Date, userKey: UserKey) {
    // "New issues in 4.12" are those that it was the first to have.
    const isFirst = intent.isNew && intent.span === null && intent.measures[0] === 'issues'
    const filters = intent.filters.map((one) =>
      isFirst && one.dimension === 'release' ? { ...one, dimension: 'first_release' as const } : one,
    )
    const isByFirst = intent.isNew && intent.measures[0] === 'issues'
    const groups = intent.groups.map((one) => (isByFirst && one === 'release' ? ('first_release' as const) : one))
    this.#intent = { ...intent, filters, groups }
    this.#now = now
    this.#userKey = userKey
  }

  write(): Statement {
    const [measure = 'events'] = this.#intent.measures
    const { figure, bound, groups, comparedSpan, shape } = this.#intent
    const isListed = shape === 'rows' || shape === 'distinct'
    if (figure !== null && figure !== 'count' && (isListed || !isSpread(measure)))
      return impossible(`${NAMES[measure]} have no average or percentile`)
    const hasNoPlace =
      shape === 'distinct' ||
      measure === 'adoption' ||
      measure === 'session_share' ||
      comparedSpan !== null ||
      (shape === 'measure' && groups.includes('issue'))
    if (bound !== null && (hasNoPlace || (shape === 'rows' && bound.of === null)))
      return impossible('I cannot apply this limit')
    if (shape === 'rows')
      return measure === 'releases' ? this.#releases() : measure === 'issues' ? this.#issueRows() : this.#eventRows()
    if (this.#intent.shape === 'distinct') return this.#distinct()
    return this.#measure()
  }

  /** Filters and bounds are the same in each part of a comparison. */
  #explain(what: string, span: TimeSpan | null): string {
    const { filters, groups, bucket, bound, comparedSpan } = this.#intent
    const by = [...groups.map((one) => DIMENSION_NAMES[one]), ...(bucket === null ? [] : [bucket])]
    const where = mergeFilters(filters).map(({ dimension, values, isNot }) =>
      dimension === 'unhandled'
        ? (values[0] === 'true') !== isNot
          ? 'unhandled'
          : 'handled'
        : `${DIMENSION_NAMES[dimension]} ${isNot ? 'not ' : ''}${[...new Set(values)].slice(0, 5).join(' or ')}`,
    )
    const parts = [
      `${what}${by.length === 0 ? '' : ` by ${by.join(' and ')}`}`,
      ...where,
      ...(bound === null
        ? []
        : [
            `${bound.more ? 'more' : 'less'} than ${bound.orEqual ? 'or exactly ' : ''}${bound.value} ${bound.isPercent ? '%' : bound.of === null ? 'ms' : NAMES[bound.of]}`,
          ]),
      ...(span === null
        ? []
        : [comparedSpan === null ? spanText(span) : `${spanText(span)} and ${spanText(comparedSpan)}`]),
    ]
    const text = parts.join(', ')
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
  }

  /** Counts grow without a bound, so that a question without a time is about the last days. */
  #spanFor(view: ViewName): TimeSpan | null {
    const { span, isAllTime } = this.#intent
    if (span !== null || isAllTime || view === 'issues' || view === 'releases') return span
    const ms = DEFAULT_DAYS * 86_400_000
    return { from: new Date(this.#now.getTime() - ms), to: null, name: `the last ${DEFAULT_DAYS} days` }
  }

  #distinct(): Statement {
    const { counted, measures, filters, groups, bucket, order } = this.#intent
    if (order !== null) return impossible('I cannot count the highest or slowest of them')
    if (counted === null) return impossible('I cannot tell what to count')
    const isRelease = counted === 'release' && filters.length === 0 && groups.length === 0 && measures[0] === 'events'
    if (isRelease) return this.#releases()
    const candidates: readonly ViewName[] =
      measures[0] === 'sessions'
        ? ['app_sessions', 'events', 'performance']
        : ['events', 'app_sessions', 'performance', 'issues']
    const view = candidates.find((one) => columnOf(one, counted) !== null)
    if (view === undefined || groups.length > 0 || bucket !== null)
      return impossible(`I cannot count the values of ${DIMENSION_NAMES[counted]} that way`)
    const column = columnOf(view, counted) ?? ''
    const name = `${column}s`
    const span = this.#spanFor(view)
    const conditions = [
      ...conditionsOf(view, filters, span, this.#userKey),
      ...(span === null ? [] : timeConditions(VIEWS[view].time, span)),
    ]
    return {
      sql: `select count(distinct ${column}) as ${name} ${from(view)}${joined(conditions)}`,
      explanation: this.#explain(`number of different values of ${DIMENSION_NAMES[counted]}`, span),
      chartHint: { kind: 'number', x: null, y: name },
    }
  }

  #releases(): Statement {
    const { shape, span, top, filters, comparedSpan, bound, seen } = this.#intent
    if (comparedSpan !== null || bound !== null) return impossible('I cannot compare lists of releases')
    const column = 'released_at'
    const conditions = [
      ...conditionsOf('releases', filters, null, this.#userKey),
      ...(span === null ? [] : timeConditions(column, span)),
    ]
    if (shape === 'distinct')
      return {
        sql: `select count(*) as releases ${from('releases')}${joined(conditions)}`,
        explanation: this.#explain('number of releases', span),
        chartHint: { kind: 'number', x: null, y: 'releases' },
      }
    return {
      sql: `select version, state, released_at, first_seen_at, last_seen_at ${from('releases')}${joined(conditions)} order by released_at ${seen?.descending === false ? 'asc' : 'desc'} limit ${top ?? MAX_LISTED}`,
      explanation: this.#explain(`releases, the ${seen?.descending === false ? 'oldest' : 'newest'} first`, span),
      chartHint: { kind: 'table', x: null, y: null },
    }
  }

  /** Single events by their time. */
  #eventRows(): Statement {
    const { measures, seen, top, bound } = this.#intent
    if (bound !== null) return impossible('I cannot apply this limit')
    const isOldest = seen?.descending === false
    const span = isOldest ? this.#intent.span : this.#spanFor('events')
    const conditions = [...this.#base('events', measures), ...(span === null ? [] : timeConditions('time', span))]
    return {
      sql: `select time, level, release, environment, os, device, exception_type, user_key, event_id ${from('events')}${joined(conditions)} order by time ${isOldest ? 'asc' : 'desc'}, event_id limit ${top ?? MAX_LISTED}`,
      explanation: this.#explain(`${this.#named()}, the ${isOldest ? 'oldest' : 'newest'} first`, span),
      chartHint: { kind: 'table', x: null, y: null },
    }
  }

  /** Issues with their totals, or with what they had in a span. */
  #issueRows(): Statement {
    const { measures, filters, span, top, isNew, seen, order, bound, comparedSpan } = this.#intent
    if (comparedSpan !== null) return impossible('I cannot compare lists of issues: ask how many there are')
    const ranked = measures[1] ?? 'events'
    if (!['events', 'users', 'crashes', 'issues'].includes(ranked))
      return impossible(`issues are not known by ${NAMES[ranked]}`)
    const limit = top ?? (isNew || seen !== null ? MAX_LISTED : order === null ? MAX_LISTED : 10)
    const direction = (seen === null ? order === 'least' : !seen.descending) ? 'asc' : 'desc'
    if (seen !== null && ranked !== 'issues' && ranked !== 'events')
      return impossible('I can order issues one way only')
    const orderedBy = seen === null ? null : isNew ? 'first_seen' : seen.by
    const isOnIssues = (one: Filter): boolean =>
      one.dimension === 'unhandled' || columnOf('issues', one.dimension) !== null
    const isOfEvents =
      (span !== null && !isNew) ||
      filters.some((one) => !isOnIssues(one) || (one.dimension === 'level' && ranked === 'crashes'))
    if (!isOfEvents) {
      const conditions = [
        ...conditionsOf('issues', filters, span, this.#userKey),
        ...(span === null ? [] : timeConditions(isNew ? 'first_seen' : 'last_seen', span)),
        ...boundOf(bound, { events: 'event_count', users: 'user_count', crashes: 'event_count' }),
      ]
      const by = orderedBy ?? (ranked === 'users' ? 'user_count' : 'event_count')
      return {
        sql: `select short_id, title, status, severity, event_count, user_count, first_seen, last_seen ${from('issues')}${joined(conditions)} order by ${by} ${direction}, short_id limit ${limit}`,
        explanation: this.#explain(
          `${isNew ? 'new ' : ''}issues, at most ${limit}, those with the ${word(direction, by)} first`,
          span,
        ),
        chartHint: { kind: 'table', x: 'short_id', y: by },
      }
    }
    const inside = [
      ...conditionsOf(
        'events',
        filters.filter((one) => columnOf('events', columnName(one.dimension)) !== null && one.dimension !== 'issue'),
        span,
        this.#userKey,
      ),
      ...(span === null ? [] : timeConditions('time', span)),
    ]
    const outside = [
      ...conditionsOf(
        'issues',
        filters.filter((one) => columnOf('events', columnName(one.dimension)) === null || one.dimension === 'issue'),
        null,
        this.#userKey,
      ),
      ...(isNew && span !== null ? timeConditions('first_seen', span) : []),
    ]
    const having = boundOf(bound, { events: 'count(*)', users: 'count(distinct user_key)', crashes: 'count(*)' })
    const by = ranked === 'users' ? 'users' : 'events'
    const orderBy = orderedBy ?? by
    return {
      sql: `select short_id, title, status, severity, events, users, first_seen, last_seen ${from('issues')} join (select issue_id, count(*) as events, count(distinct user_key) as users ${from('events')}${joined(inside)} group by issue_id${having.length === 0 ? '' : ` having ${having.join(' and ')}`}) as e on e.issue_id = issues.id${joined(outside)} order by ${orderBy} ${direction}, short_id limit ${limit}`,
      explanation: this.#explain(
        `${isNew ? 'new ' : ''}issues with their events, at most ${limit}, those with the ${word(direction, orderBy)} first`,
        span,
      ),
      chartHint: { kind: 'table', x: 'short_id', y: by },
    }
  }

  #measure(): Statement {
    const { measures, groups, comparedSpan, filters, isNew } = this.#intent
    const [measure = 'events'] = measures
    if (measure === 'adoption' || measure === 'session_share') return this.#adoption()
    let view = viewOf(measure)
    let shown = measures.flatMap((one) =>
      columnsOf(one, { figure: this.#figure(one), order: this.#intent.order, isPair: measures.length > 1 }),
    )
    // Issues are counted by their events where only these know the dimension.
    if (view === 'issues' && groups.some((one) => columnOf('issues', one) === null)) {
      if (groups.some((one) => columnOf('events', one) === null)) return impossible('I cannot count issues that way')
      view = 'events'
      shown = [['issues', 'count(distinct issue_id)']]
    }
    // Devices and users of ANRs are known of sessions only.
    if (
      measure === 'anrs' &&
      [...groups, ...filters.map((one) => one.dimension)].some((one) => one === 'device' || one === 'user')
    ) {
      view = 'app_sessions'
      shown = [['anrs', 'count(*) filter (where is_anr)']]
    }
    const base = this.#base(view, measures)
    const span = this.#spanFor(view)
    if (comparedSpan !== null) return this.#compared(view, shown, base, span, comparedSpan)
    if (groups.includes('issue') && view === 'events') return this.#byIssue(shown, base, span)
    const time = view === 'issues' ? (isNew ? 'first_seen' : 'last_seen') : VIEWS[view].time
    const inSpan = view === 'issues' ? this.#issuesInSpan(span) : span === null ? [] : timeConditions(time, span)
    return this.#grouped(view, shown, [...base, ...inSpan], time, span)
  }

  /** The measures in words. */
  #named(): string {
    const { measures, figure } = this.#intent
    return measures
      .map((one) =>
        figure === 'count' && isSpread(one)
          ? `number of ${COUNTED[one] ?? NAMES[one].replace(/ in ms$/, '')}`
          : NAMES[one],
      )
      .join(' and ')
  }

  #figure(measure: Measure): Intent['figure'] {
    return this.#intent.figure === 'spread' && measure === 'session_length' ? null : this.#intent.figure
  }

  #base(view: ViewName, measures: readonly Measure[]): string[] {
    const [measure = 'events'] = measures
    const { filters, span, bound } = this.#intent
    const kind = view === 'performance' ? KINDS[measure] : undefined
    return [
      ...(kind === undefined ? [] : [`kind = ${literal(kind)}`]),
      ...(view === 'events' && measure === 'crashes' && measures.length === 1 ? ["level = 'fatal'"] : []),
      ...conditionsOf(view, filters, span, this.#userKey),
      ...(bound !== null && bound.of === null && !this.#boundsFigure() ? this.#slower(view, bound) : []),
      ...(view === 'issues' && bound !== null && bound.of !== null
        ? boundOf(bound, { events: 'event_count', users: 'user_count', crashes: 'event_count' })
        : []),
    ]
  }

  /** Whether the limit is one of the figure of each group: a percentage, or "p95 above 3 seconds". */
  #boundsFigure(): boolean {
    const { bound, figure } = this.#intent
    return (
      bound !== null &&
      bound.of === null &&
      (bound.isPercent || !(figure === null || figure === 'count' || figure === 'spread'))
    )
  }

  #slower(view: ViewName, bound: Bound): string[] {
    const column = columnNames(view).find((name) => name === 'duration_ms')
    if (column === undefined) return impossible(`${VIEW_WORDS[view]} have no duration`)
    return [`${column} ${operator(bound)} ${bound.value}`]
  }

  /** Issues that were seen in a span: by their last event, or by their events where the span has ended. */
  #issuesInSpan(span: TimeSpan | null): string[] {
    if (span === null) return []
    if (this.#intent.isNew) return timeConditions('first_seen', span)
    const statuses = this.#intent.filters.filter(({ dimension, isNot }) => dimension === 'status' && !isNot)
    const isResolved =
      statuses.length > 0 && statuses.every(({ values }) => values.every((value) => value === 'resolved'))
    if (isResolved) return timeConditions('resolved_at', span)
    if (span.to === null || span.to.getTime() >= this.#now.getTime())
      return timeConditions('last_seen', { ...span, to: null })
    return [`id in (select issue_id ${from('events')}${joined(timeConditions('time', span))})`]
  }

  #grouped(
    view: ViewName,
    shown: Shown,
    conditions: readonly string[],
    time: string,
    span: TimeSpan | null,
  ): Statement {
    const { groups, bucket, order, top, bound } = this.#intent
    const columns = groups.map((one) => ({ one, column: columnOf(view, one) }))
    for (const { one, column } of columns)
      if (column === null) return impossible(`${VIEW_WORDS[view]} are not known by ${DIMENSION_NAMES[one]}`)
    const names = [...new Set(columns.map(({ column }) => column ?? ''))]
    const keys = [...(bucket === null ? [] : [`date_trunc('${bucket}', ${time}, 'UTC')`]), ...names]
    const selected = [
      ...(bucket === null ? [] : [`date_trunc('${bucket}', ${time}, 'UTC') as ${bucket}`]),
      ...names,
      ...shown.map(([name, expression]) => `${expression} as ${name}`),
    ]
    const [first] = shown
    const y = first?.[0] ?? null
    const having =
      bound !== null && bound.of !== null && view !== 'issues'
        ? boundOf(bound, {
            events: 'count(*)',
            crashes: "count(*) filter (where level = 'fatal')",
            users: 'count(distinct user_key)',
            sessions: 'count(*)',
            transactions: 'count(*)',
          })
        : []
    if (this.#boundsFigure() && bound !== null) {
      const [figure] = shown
      const hasUnit = bound.isPercent ? figure?.[0].endsWith('_percent') : figure?.[0].endsWith('_ms')
      if (figure === undefined || hasUnit !== true || keys.length === 0) return impossible('I cannot apply this limit')
      having.push(`${figure[1]} ${operator(bound)} ${bound.value}`)
    } else if (having.length > 0 && (keys.length === 0 || (bound?.of === 'sessions') !== (view === 'app_sessions')))
      return impossible('I cannot apply this limit')
    if (keys.length === 0 && order !== null) return impossible('I need what to order by it: releases, devices, days')
    const limit = top ?? MAX_GROUPS
    const direction = order === 'least' ? 'asc' : 'desc'
    const byTime = bucket !== null && order === null && top === null
    const ordered =
      keys.length === 0
        ? ''
        : byTime
          ? ` order by ${[bucket, ...names].join(', ')}`
          : ` order by ${y} ${direction} nulls last${[...(bucket === null ? [] : [bucket]), ...names].map((name) => `, ${name}`).join('')} limit ${limit}`
    const what = this.#named()
    const note =
      !byTime && keys.length > 0 && top !== null
        ? `, the ${top} with the ${direction === 'desc' ? 'most' : 'least'}`
        : ''
    return {
      sql: `select ${selected.join(', ')} ${from(view)}${joined(conditions)}${keys.length === 0 ? '' : ` group by ${keys.join(', ')}`}${having.length === 0 ? '' : ` having ${having.join(' and ')}`}${ordered}`,
      explanation: this.#explain(`${this.#intent.isNew && view === 'issues' ? 'new ' : ''}${what}${note}`, span),
      chartHint:
        keys.length === 0
          ? { kind: 'number', x: null, y }
          : { kind: bucket !== null && byTime ? 'line' : 'bar', x: bucket ?? names[0] ?? null, y },
    }
  }

  #byIssue(shown: Shown, base: readonly string[], span: TimeSpan | null): Statement {
    const { top, order, groups, bucket } = this.#intent
    if (groups.length > 1 || bucket !== null) return impossible('I can group by issue alone')
    const [first] = shown
    const y = first?.[0] ?? 'events'
    const conditions = [...base, ...(span === null ? [] : timeConditions('time', span))]
    const direction = order === 'least' ? 'asc' : 'desc'
    return {
      sql: `select short_id, title, ${shown.map(([name]) => name).join(', ')} ${from('issues')} join (select issue_id, ${shown.map(([name, expression]) => `${expression} as ${name}`).join(', ')} ${from('events')}${joined(conditions)} group by issue_id) as e on e.issue_id = issues.id order by ${y} ${direction}, short_id limit ${top ?? MAX_GROUPS}`,
      explanation: this.#explain(this.#named(), span),
      chartHint: { kind: 'bar', x: 'short_id', y },
    }
  }

  /** The same of two spans, one row of each, or one of each value. */
  #compared(view: ViewName, shown: Shown, base: readonly string[], span: TimeSpan | null, before: TimeSpan): Statement {
    const { groups, bucket, isNew } = this.#intent
    if (span === null || bucket !== null) return impossible('I cannot compare times hour by hour')
    const names = groups.map(
      (one) => columnOf(view, one) ?? impossible(`${VIEW_WORDS[view]} are not known by ${DIMENSION_NAMES[one]}`),
    )
    const time = view === 'issues' ? (isNew ? 'first_seen' : 'last_seen') : VIEWS[view].time
    const columns = [...names, ...shown.map(([name, expression]) => `${expression} as ${name}`)]
    const part = (one: TimeSpan): string => {
      const inSpan = view === 'issues' ? this.#issuesInSpan(one) : timeConditions(time, one)
      return `select ${literal(one.name)} as period, ${columns.join(', ')} ${from(view)}${joined([...base, ...inSpan])}${names.length === 0 ? '' : ` group by ${names.join(', ')}`}`
    }
    const y = shown[0]?.[0] ?? null
    return {
      sql: `${part(span)} union all ${part(before)}${names.length === 0 ? '' : ` order by ${[...names, 'period'].join(', ')} limit 1000`}`,
      explanation: this.#explain(this.#named(), span),
      chartHint: { kind: 'bar', x: 'period', y },
    }
  }

  /** The share of releases, or of the named values, in all sessions. */
  #adoption(): Statement {
    const { filters, groups, top, bucket, comparedSpan, measures, order, span: named } = this.#intent
    if (bucket !== null || comparedSpan !== null) return impossible('I know the adoption of one time only')
    const span = named ?? this.#spanFor('app_sessions')
    const byName = [...new Set(filters.map((one) => one.dimension))]
    const [only] = measures[0] === 'session_share' ? byName : []
    if (only === 'unhandled' || (only !== undefined && groups.length === 0 && byName.length > 1))
      return impossible('I cannot tell of which sessions the share is asked for')
    const dimension = groups[0] ?? only ?? 'release'
    const column = columnOf('app_sessions', dimension)
    if (column === null || groups.length > 1)
      return impossible(`sessions are not known by ${DIMENSION_NAMES[dimension]}`)
    const others = filters.filter((one) => one.dimension !== dimension)
    const conditions = [
      ...conditionsOf('app_sessions', others, span, this.#userKey),
      ...(span === null ? [] : timeConditions('time', span)),
    ]
    const own = conditionsOf(
      'app_sessions',
      filters.filter((one) => one.dimension === dimension),
      span,
      this.#userKey,
    )
    const all = `(select count(*) ${from('app_sessions')}${joined(conditions)})`
    return {
      sql: `select ${column}, ${percent('count(*)', all)} as percent_of_sessions, count(*) as sessions ${from('app_sessions')}${joined([...conditions, ...own])} group by ${column} order by sessions ${order === 'least' ? 'asc' : 'desc'}, ${column} limit ${top ?? MAX_GROUPS}`,
      explanation: this.#explain(
        `share of all sessions in percent${groups.length === 0 ? `, by ${DIMENSION_NAMES[dimension]}` : ''}`,
        span,
      ),
      chartHint: { kind: 'bar', x: column, y: 'percent_of_sessions' },
    }
  }
}

const columnNames = (view: ViewName): string[] => VIEWS[view].columns.map(({ name }) => name)
const columnName = (dimension: Dimension | 'unhandled'): Dimension => (dimension === 'unhandled' ? 'status' : dimension)
const operator = ({ more, orEqual }: Bound): string => `${more ? '>' : '<'}${orEqual ? '=' : ''}`
const word = (direction: string, column: string): string =>
  column.endsWith('seen')
    ? `${direction === 'desc' ? 'latest' : 'earliest'} ${column.startsWith('first') ? 'first event' : 'last event'}`
    : `${direction === 'desc' ? 'most' : 'fewest'} ${column.startsWith('user') ? 'users' : 'events'}`

function boundOf(bound: Bound | null, columns: Partial<Record<Measure, string>>): string[] {
  if (bound === null || bound.of === null) return []
  const column = columns[bound.of]
  if (column === undefined) return impossible(`I cannot limit the number of ${NAMES[bound.of]} here`)
  return [`${column} ${operator(bound)} ${bound.value}`]
}

function spanText({ from: start, to, name }: TimeSpan): string {
  const at = (one: Date): string => one.toISOString().slice(0, 16).replace('T', ' ')
  const range =
    start !== null && to !== null
      ? `${at(start)} to ${at(to)} UTC`
      : start !== null
        ? `since ${at(start)} UTC`
        : to !== null
          ? `before ${at(to)} UTC`
          : ''
  return name.startsWith('since') || name.startsWith('from') || name.startsWith('before') ? range : `${name} (${range})`
}
