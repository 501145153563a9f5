import type { Item } from './read-question.ts'
import type { TimeSpan } from './times.ts'
import { spanBefore } from './times.ts'
import type { Bucket, Dimension, Figure, Measure, Seen } from './vocabulary.ts'

/** From the parts of a question to what it asks for. Pure. */

export type Filter = {
  readonly dimension: Dimension | 'unhandled'
  readonly values: readonly string[]
  readonly isNot: boolean
  /** Whether it is a release that the question names by its place: "the latest release". */
  readonly isNewest?: boolean
}

/** A bound of a count or a duration. */
export type Bound = {
  readonly more: boolean
  readonly orEqual: boolean
  readonly value: number
  /** The counted noun; null for a duration in milliseconds and for a percentage. */
  readonly of: Measure | null
  readonly isPercent: boolean
}

export type Intent = {
  /** `rows` lists issues or releases, `distinct` counts the values of `counted`. */
  readonly shape: 'measure' | 'rows' | 'distinct'
  readonly measures: readonly Measure[]
  readonly counted: Dimension | null
  readonly figure: Figure | null
  readonly groups: readonly Dimension[]
  readonly bucket: Bucket | null
  readonly filters: readonly Filter[]
  /** Null where the question names no time. */
  readonly span: TimeSpan | null
  readonly isAllTime: boolean
  /** A second span, which is compared with the first. */
  readonly comparedSpan: TimeSpan | null
  readonly isNew: boolean
  /** Rows are ordered by a time instead. */
  readonly seen: Seen | null
  /** Whether the rows are ordered by the measure: most or least of it first. */
  readonly order: 'most' | 'least' | null
  readonly top: number | null
  readonly bound: Bound | null
}

/** Why a question cannot become a statement, and the places of the words that were not understood. */
export type Misunderstood = { readonly problem: string; readonly places: readonly { start: number; end: number }[] }

type Noun = {
  readonly item: Item
  role: 'count' | 'by' | 'which' | 'top' | 'rank' | 'plain'
  readonly measure: Measure | null
  readonly dimension: Dimension | null
  /** Whether "per" stands before it. */
  readonly isEach: boolean
}

const MS: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  second: 1_000,
  s: 1_000,
  sec: 1_000,
  minute: 60_000,
}

/** Figures of which the lowest is the worst. */
const HIGH_IS_GOOD: ReadonlySet<Measure> = new Set<Measure>(['crash_free_sessions', 'crash_free_users', 'adoption'])

/** Dimensions that are kept in one column. */
const columnOf = (dimension: string): string => (dimension === 'screen' ? 'transaction' : dimension)

/** @param unitBehind the word behind a number, in the singular; empty without one */
export function understandQuestion(
  all: readonly Item[],
  unitBehind: (item: Item) => string,
  now: Date,
): Intent | Misunderstood {
  const { bound, rest: items } = takeBound(all, unitBehind)
  const unknown = items.filter(({ is }) => is === 'unknown')
  if (unknown.length > 0) return { problem: 'unknown', places: unknown }
  const filters: Filter[] = []
  const nouns: Noun[] = []
  const spans: { span: TimeSpan; item: Item }[] = []
  const leftOver: Item[] = []
  let [figure, bucket]: [Figure | null, Bucket | null] = [null, null]
  let [order, top]: [Intent['order'], number | null] = [null, null]
  const says = {
    top: false,
    slow: false,
    worst: false,
    best: false,
    afterVersus: false,
    all: false,
    compare: false,
    versus: false,
    before: false,
  }
  let pending: 'count' | 'by' | 'which' | 'top' | 'rank' | null = null
  let isNot = false
  /** A negation of nothing that is known. */
  let openNot: Item | null = null
  let isEach = false
  /** The time by which a measure is counted: days of "DAU". */
  let usualBucket: Bucket | null = null
  let seen: Seen | null = null
  /** Words that only some answers heed. */
  const heeded: { seen?: Item; new?: Item; when?: Item; released?: Item; isVerb?: boolean } = {}
  /** Places of the values of a comparison, by column. */
  const compared = new Map<string, { before: boolean; values: Set<string> }>()

  for (const [at, item] of items.entries()) {
    const next = items[at + 1]
    const before = items[at - 1]
    switch (item.is) {
      case 'measure':
      case 'dimension': {
        const dimension = item.is === 'dimension' ? item.dimension : null
        const namesNext = (one: Item | undefined): boolean =>
          one !== undefined &&
          (one.is === 'value' || one.is === 'filter') &&
          (columnOf(one.dimension) === columnOf(dimension ?? '') ||
            (item.is === 'measure' && item.measure === 'users' && one.dimension === 'user') ||
            (item.is === 'measure' && item.measure === 'issues' && one.dimension === 'issue'))
        const isSame = before !== undefined && namesNext(before) && pending === null
        const isDescribed =
          dimension !== null &&
          before?.is === 'value' &&
          before.dimension !== 'user' &&
          pending === null &&
          !item.isJoined
        // "release 4.12", "4.12 release" and "Android devices" name values.
        const isName = namesNext(next) && !(next?.is === 'filter' && item.is === 'measure')
        if (isName || (dimension !== null && isSame) || isDescribed) {
          if (pending !== 'count' && pending !== 'rank') pending = null
          break
        }
        const isJoinedBy =
          item.isJoined &&
          pending === null &&
          nouns.at(-1)?.role === 'by' &&
          items[at - 1]?.end === nouns.at(-1)?.item.end
        const role = isJoinedBy ? 'by' : (pending ?? 'plain')
        pending = null
        nouns.push({ item, role, dimension, isEach, measure: item.is === 'measure' ? item.measure : null })
        isEach = false
        if (item.is === 'measure' && item.bucket !== undefined) usualBucket = item.bucket
        break
      }
      case 'filter':
      case 'value': {
        const values = [...item.values]
        filters.push({
          dimension: item.dimension,
          values,
          isNot: isNot !== (item.is === 'filter' && item.isNot === true),
          isNewest: item.is === 'value' && item.isNewest === true,
        })
        openNot = null
        const column = columnOf(item.dimension)
        const known = compared.get(column)
        if (says.versus)
          compared.set(column, { before: known !== undefined, values: new Set([...(known?.values ?? []), ...values]) })
        else compared.set(column, { before: false, values: new Set([...(known?.values ?? []), ...values]) })
        // "not 4.12 and 4.11" excludes both.
        isNot =
          isNot &&
          next?.isJoined === true &&
          (next.is === 'value' || next.is === 'filter') &&
          next.dimension === item.dimension
        break
      }
      case 'span':
        says.afterVersus ||= says.versus && spans.length === 0
        spans.push({ span: item.span, item })
        break
      case 'number': {
        const afterTop = before?.is === 'top' || before?.is === 'seen' || before?.is === 'which'
        const beforeOrder =
          next?.is === 'most' ||
          next?.is === 'slow' ||
          next?.is === 'worst' ||
          next?.is === 'top' ||
          next?.is === 'seen'
        const beforeNoun =
          next?.is === 'measure' || next?.is === 'dimension' || next?.is === 'filter' || next?.is === 'new'
        if (Number.isInteger(item.number) && item.number > 0 && (afterTop || beforeOrder || beforeNoun))
          top = item.number
        else leftOver.push(item)
        break
      }
      case 'figure':
        figure = item.figure
        break
      case 'bucket':
        bucket = item.bucket
        if (item.isRanked === true) order = 'most'
        break
      case 'most':
        order = item.descending ? 'most' : 'least'
        pending = 'rank'
        break
      case 'slow':
        says.slow = true
        order ??= item.descending ? 'most' : 'least'
        break
      case 'worst':
        says.worst = !item.isBest
        says.best = item.isBest
        order = item.isBest ? 'least' : 'most'
        break
      case 'top':
        says.top = true
        order ??= 'most'
        pending ??= 'top'
        break
      case 'by':
        pending = 'by'
        isEach = item.isEach
        break
      case 'count':
        // "Issues by number of users"
        if (before?.is !== 'by') pending = item.is
        break
      case 'which':
        pending = item.is
        break
      case 'not':
        isNot = true
        openNot = item
        break
      case 'new':
        heeded.new = item
        heeded.isVerb = item.isVerb
        break
      case 'seen':
        heeded.seen = item
        seen = item.seen
        break
      case 'only':
        // "Which errors happen only on iOS" leaves out errors that others have too.
        if (nouns.at(-1)?.role === 'which') leftOver.push(item)
        break
      case 'when':
      case 'released':
        heeded[item.is] = item
        break
      case 'all':
        says.all = true
        break
      case 'compare':
        says.compare = true
        break
      case 'who':
        if (!nouns.some(({ measure }) => measure === 'users' || measure === 'active_users'))
          nouns.push({ item, role: 'which', measure: 'users', dimension: null, isEach: false })
        break
      case 'versus':
        says.versus = true
        break
      case 'before':
        says.before = true
        break
      case 'than':
        // "Higher than last week" compares; "over" and "under" without a number say nothing.
        if (next?.is === 'span') says.versus = true
        else if (item.end - item.start > 6) leftOver.push(item)
        break
      case 'time':
      case 'filler':
      case 'unknown':
        break
    }
  }
  if (openNot !== null) leftOver.push(openNot)
  if (leftOver.length > 0) return { problem: 'unknown', places: leftOver }
  if (spans.length > 2) return { problem: 'I can compare two times at most', places: spans.map(({ item }) => item) }

  // "MAU" without a time is one number.
  if (bucket === null && !(usualBucket === 'month' && spans.length === 0)) bucket = usualBucket
  const decided = decide({
    filters,
    nouns,
    figure,
    bucket,
    order,
    top: top ?? (says.top ? 10 : null),
    isSlow: says.slow,
    isWorst: says.worst,
    isBest: says.best,
    isAfterVersus: says.afterVersus,
    isNew: heeded.new !== undefined,
    isWhen: heeded.when !== undefined,
    isReleased: heeded.released !== undefined,
    seen,
    isAllTime: says.all,
    isVersus: says.versus,
    isCompared: says.compare,
    bound,
    spans: spans.map(({ span }) => span),
    isBefore: says.before,
    comparedColumns: [...compared]
      .filter(([, one]) => (one.before || says.compare) && one.values.size > 1)
      .map(([column]) => column),
    now,
  })
  if ('problem' in decided) return decided
  const isFlipped = (says.worst || says.best) && HIGH_IS_GOOD.has(decided.measures[0] ?? 'events')
  const intent: Intent = isFlipped ? { ...decided, order: says.best ? 'most' : 'least' } : decided
  const isList = intent.shape === 'rows'
  const ignored = [
    isList ? undefined : heeded.seen,
    isList || intent.bucket !== null ? undefined : heeded.when,
    isList && intent.measures[0] === 'releases' ? undefined : heeded.released,
    heeded.isVerb === true || intent.measures[0] === 'issues' || intent.measures[0] === 'releases'
      ? undefined
      : heeded.new,
  ].filter((item) => item !== undefined)
  return ignored.length > 0 ? { problem: 'unknown', places: ignored } : intent
}

/** Takes "more than 100 events" or "slower than 5 seconds" out of a question. */
function takeBound(
  items: readonly Item[],
  unitBehind: (item: Item) => string,
): { bound: Bound | null; rest: readonly Item[] } {
  const at = items.findIndex((item, index) => item.is === 'than' && items[index + 1]?.is === 'number')
  const [than, number, noun] = items.slice(Math.max(0, at), at + 3)
  if (at < 0 || than?.is !== 'than' || number?.is !== 'number') return { bound: null, rest: items }
  const unit = MS[unitBehind(number)]
  const isPercent = ['%', 'percent'].includes(unitBehind(number))
  const of = unit === undefined && !isPercent && noun?.is === 'measure' ? noun.measure : null
  // A number without a unit that is known stays, and is not understood.
  if (unit === undefined && of === null && !isPercent) return { bound: null, rest: items }
  const bound = { more: than.more, orEqual: than.orEqual, value: number.number * (unit ?? 1), of, isPercent }
  return { bound, rest: items.toSpliced(at, of === null ? 2 : 3) }
}

type Parts = {
  readonly filters: readonly Filter[]
  readonly nouns: readonly Noun[]
  readonly figure: Figure | null
  readonly bucket: Bucket | null
  readonly order: Intent['order']
  readonly top: number | null
  readonly isSlow: boolean
  readonly isWorst: boolean
  readonly isBest: boolean
  /** Whether the only time stands behind "compared with". */
  readonly isAfterVersus: boolean
  readonly isNew: boolean
  readonly isWhen: boolean
  readonly isReleased: boolean
  readonly seen: Seen | null
  readonly isAllTime: boolean
  readonly isVersus: boolean
  readonly isCompared: boolean
  readonly bound: Bound | null
  readonly spans: readonly TimeSpan[]
  readonly isBefore: boolean
  readonly comparedColumns: readonly string[]
  readonly now: Date
}

/** Nouns that rows are grouped by when they stand behind "by". */
const GROUP_OF: Partial<Record<Measure, Dimension>> = { users: 'user', issues: 'issue' }
const FROM_EVENTS: ReadonlySet<Measure> = new Set<Measure>(['events', 'users', 'issues'])

type Times = { readonly span: TimeSpan | null; readonly comparedSpan: TimeSpan | null }

/** The time of the question, and the one to compare it with. */
function decideTimes(parts: Parts): Times | Misunderstood {
  const { spans, isBefore, isVersus, now } = parts
  if (spans.length > 1 && !isVersus && !parts.isCompared && !isBefore)
    return { problem: 'I can compare two times only where the question says so: "compared with"', places: [] }
  const [first = null, second = null] = spans
  const isSince = second === null && parts.isAfterVersus && !isBefore && parts.comparedColumns.length === 0
  // "Higher than last week" is the time since then against last week.
  const sinceThen =
    isSince && first?.to != null && first.to <= now ? { from: first.to, to: null, name: 'since then' } : null
  const span = sinceThen ?? first
  const namedSpan = sinceThen === null ? second : first
  const comparedSpan = namedSpan ?? (isBefore && span !== null ? spanBefore(span, now) : null)
  if (isVersus && comparedSpan === null && parts.comparedColumns.length === 0)
    return { problem: 'I need two releases, values or times to compare', places: [] }
  if (isBefore && span === null) return { problem: 'I need a time to compare with the time before', places: [] }
  return { span, comparedSpan }
}

/** The roles of the nouns of a question. */
type Roles = {
  /** The noun behind "how many". */
  readonly counted: Noun | undefined
  /** The noun that the answer is about. */
  readonly subject: Noun | undefined
  readonly others: readonly Noun[]
  readonly groups: readonly Dimension[]
  /** The figure by which rows are ordered. */
  readonly rank: Measure | null
  readonly further: readonly Measure[]
  readonly isIncident: boolean
  readonly hasOrder: boolean
}

function decideRoles(parts: Parts): Roles | Misunderstood {
  const { nouns } = parts
  const counted = nouns.find(({ role }) => role === 'count')
  const subject =
    counted ??
    nouns.find(({ role }) => role === 'top' || role === 'which') ??
    nouns.find(({ role }) => role !== 'by') ??
    (parts.filters.length > 0 && nouns.every(({ dimension }) => dimension !== null) ? undefined : nouns[0])
  const others = nouns.filter((noun) => noun !== subject)
  const groups: Dimension[] = []
  let rank: Measure | null = others.find(({ role, measure }) => role === 'rank' && measure !== null)?.measure ?? null
  const further: Measure[] = []
  const isEntity = subject?.dimension !== null || subject.measure === 'issues' || subject.measure === 'users'
  const isIncident = subject?.measure === 'events' || subject?.measure === 'crashes'
  const hasOrder = parts.order !== null || subject?.role === 'which' || subject?.role === 'top'
  for (const { role, measure, dimension, item, isEach } of others) {
    if (role === 'rank' && measure !== null && measure === rank) continue
    if (dimension !== null) {
      // "The failure rate of transactions" is one figure.
      const isOwn = dimension === 'transaction' && role === 'plain' && subject?.measure !== null
      if (!isOwn && !groups.includes(dimension)) groups.push(dimension)
      continue
    }
    if (measure === null) continue
    const group = GROUP_OF[measure]
    if (role === 'by') {
      const isDivisor = isEach || !(isEntity || hasOrder || counted !== undefined)
      if (group === undefined && isDivisor) return { problem: 'unknown', places: [item] }
      const isRank =
        group === undefined ||
        ((isEntity || (hasOrder && isIncident)) && (hasOrder || item.isPlural || subject?.measure === 'issues'))
      // "How many users were affected by crashes" says which users.
      if (group === undefined && counted !== undefined && parts.order === null) further.push(measure)
      else if (isRank) rank ??= measure
      else if (!groups.includes(group)) groups.push(group)
    } else further.push(measure)
  }
  for (const column of parts.comparedColumns) {
    const dimension = parts.filters.find((one) => columnOf(one.dimension) === column)?.dimension
    if (dimension !== undefined && dimension !== 'unhandled' && !groups.includes(dimension)) groups.push(dimension)
  }
  return { counted, subject, others, groups, rank, further, isIncident, hasOrder }
}

const CRASH: Filter = { dimension: 'level', values: ['fatal'], isNot: false }

/** The filters of a measure; crashes only, where the question names them beside it. */
const withCrash = (parts: Parts, { further }: Roles, measure: Measure): readonly Filter[] =>
  (further.includes('crashes') || (measure === 'issues' && parts.bound?.of === 'crashes')) && FROM_EVENTS.has(measure)
    ? [...parts.filters, CRASH]
    : parts.filters

/** The parts of an answer that follow from no noun. */
const toBase = (parts: Parts, { span, comparedSpan }: Times) =>
  ({
    figure: parts.figure,
    bucket: parts.bucket,
    filters: parts.filters,
    span,
    isAllTime: parts.isAllTime,
    comparedSpan,
    isNew: parts.isNew,
    seen: parts.seen,
    order: parts.order,
    top: parts.top,
    bound: parts.bound,
    counted: null,
  }) as const

type Base = ReturnType<typeof toBase>

function decide(parts: Parts): Intent | Misunderstood {
  const times = decideTimes(parts)
  if ('problem' in times) return times
  const roles = decideRoles(parts)
  if ('problem' in roles) return roles
  const base = toBase(parts, times)
  const { subject } = roles
  const isOfReleases = subject === undefined ? parts.filters.some((one) => one.isNewest) : false
  if ((parts.isReleased && (subject === undefined || subject.dimension === 'release')) || isOfReleases)
    return { ...base, shape: 'rows', measures: ['releases'], groups: [], top: parts.top }

  if (subject === undefined) return answerFilters(parts, roles, base)
  return subject.dimension === null
    ? answerMeasure(parts, roles, base, subject)
    : answerDimension(parts, roles, base, subject, subject.dimension)
}

/** Nothing is counted by name: the filters decide. */
function answerFilters(parts: Parts, { groups }: Roles, base: Base): Intent | Misunderstood {
  const listed = groups.length === 0 && parts.bucket === null ? 'rows' : 'measure'
  if (parts.isNew) return { ...base, shape: listed, measures: ['issues'], groups }
  const isScreen = parts.filters.some(({ dimension }) => dimension === 'screen')
  if (
    parts.isSlow ||
    (parts.figure !== null && (isScreen || parts.filters.some(({ dimension }) => dimension === 'transaction')))
  )
    return {
      ...base,
      shape: 'measure',
      measures: [isScreen ? 'screen_initial' : 'transactions'],
      groups,
      order: null,
    }
  if (parts.filters.some(({ dimension }) => dimension === 'status' || dimension === 'severity'))
    return { ...base, shape: listed, measures: ['issues'], groups }
  if (parts.filters.some(({ isNot, dimension }) => !isNot || dimension === 'level'))
    return { ...base, shape: 'measure', measures: ['events'], groups }
  return { problem: 'I cannot tell what to count', places: [] }
}

/** The number of rows of "the latest release". */
const countLatest = (parts: Parts, subject: Noun): number | null =>
  parts.seen !== null && !subject.item.isPlural ? 1 : null

/** "Which releases crash most?" */
function answerDimension(
  parts: Parts,
  roles: Roles,
  base: Base,
  subject: Noun,
  dimension: Dimension,
): Intent | Misunderstood {
  const { counted, groups, rank, further } = roles
  const measure = rank ?? further.find((one) => one !== 'crashes' || further.length === 1) ?? parts.bound?.of ?? null
  const isCounted = counted !== undefined || parts.bucket !== null
  if (
    dimension === 'transaction' &&
    measure === null &&
    !parts.isSlow &&
    (isCounted || (subject.role === 'plain' && groups.length > 0))
  )
    return {
      ...base,
      shape: 'measure',
      measures: ['transactions'],
      figure: parts.figure ?? (isCounted ? 'count' : null),
      groups,
    }
  if (counted !== undefined) {
    const onSessions = further.includes('sessions') || further.includes('active_users')
    return {
      ...base,
      shape: 'distinct',
      counted: dimension,
      measures: [onSessions ? 'sessions' : 'events'],
      filters: withCrash(parts, roles, 'events'),
      groups,
    }
  }
  if (
    dimension === 'release' &&
    measure === null &&
    groups.length === 0 &&
    parts.order === null &&
    parts.bucket === null
  )
    return { ...base, shape: 'rows', measures: ['releases'], groups: [], top: parts.top ?? countLatest(parts, subject) }
  const isName = dimension === 'screen' || dimension === 'transaction' || dimension === 'operation'
  const usual: Measure =
    measure ??
    (parts.isSlow
      ? dimension === 'screen'
        ? 'screen_initial'
        : 'transactions'
      : isName
        ? dimension === 'screen'
          ? 'screen_initial'
          : 'transactions'
        : parts.isWorst
          ? 'crashes'
          : parts.isBest
            ? 'crash_free_sessions'
            : dimension === 'session_status'
              ? 'sessions'
              : dimension === 'status' || dimension === 'severity'
                ? 'issues'
                : 'events')
  const isTimed = parts.isSlow || parts.isWorst || parts.isBest || parts.order === null
  const figure = parts.figure ?? (isName && measure === null && !isTimed ? 'count' : null)
  const order = parts.order ?? (subject.role === 'which' || parts.isSlow ? 'most' : null)
  return {
    ...base,
    shape: 'measure',
    measures: [usual],
    figure: parts.isSlow ? parts.figure : figure,
    groups: [dimension, ...groups.filter((one) => one !== dimension)],
    filters: withCrash(parts, roles, usual),
    order,
  }
}

/** "How many users crashed?" */
function answerMeasure(parts: Parts, roles: Roles, base: Base, subject: Noun): Intent | Misunderstood {
  const { counted, others, groups, rank, further, isIncident, hasOrder } = roles
  const { comparedSpan } = base
  const isLength = parts.figure === 'maximum' || parts.figure === 'minimum' || parts.figure === 'spread'
  const measure =
    subject.measure === 'sessions' && isLength && parts.bucket === null ? 'session_length' : subject.measure
  if (measure === null) return { problem: 'I cannot tell what to count', places: [subject.item] }
  if (parts.isNew && isIncident) {
    const isListed = counted === undefined && parts.bucket === null && groups.length === 0
    return {
      ...base,
      shape: isListed ? 'rows' : 'measure',
      measures: ['issues'],
      groups,
      filters: measure === 'crashes' ? [...parts.filters, CRASH] : parts.filters,
      order: isListed ? 'most' : parts.order,
    }
  }
  // "The latest 10 crashes", "When did user 17 crash?"
  const isPlain = counted === undefined && parts.bucket === null && groups.length === 0 && comparedSpan === null
  const isOfIssues = parts.bound?.of != null && FROM_EVENTS.has(parts.bound.of)
  if (isIncident && isPlain && rank === null && isOfIssues)
    return {
      ...base,
      shape: 'rows',
      measures: ['issues'],
      groups: [],
      filters: measure === 'crashes' ? [...parts.filters, CRASH] : parts.filters,
    }
  if (isIncident && isPlain && rank === null && (parts.seen !== null || parts.isWhen))
    return {
      ...base,
      shape: 'rows',
      measures: [measure],
      groups: [],
      seen: parts.seen ?? { by: 'last_seen', descending: true },
      top: parts.top ?? countLatest(parts, subject),
    }
  if (measure === 'issues') {
    const isCounted = counted !== undefined || parts.bucket !== null || groups.length > 0 || comparedSpan !== null
    const ranked = rank ?? further.find((one) => one === 'events' || one === 'users' || one === 'crashes') ?? null
    if (isCounted && (rank === null || groups.length > 0 || counted !== undefined))
      return { ...base, shape: 'measure', measures: ['issues'], groups, filters: withCrash(parts, roles, 'issues') }
    return {
      ...base,
      shape: 'rows',
      measures: ranked === null ? ['issues'] : ['issues', ranked],
      groups: [],
      top: parts.top ?? countLatest(parts, subject),
      filters: ranked === 'crashes' ? [...parts.filters, CRASH] : withCrash(parts, roles, 'issues'),
      order: parts.order ?? 'most',
    }
  }
  if (measure === 'users' && counted === undefined) {
    const ranked = rank ?? (hasOrder ? (further[0] ?? null) : null)
    if (ranked !== null && ranked !== 'users')
      return {
        ...base,
        shape: 'measure',
        measures: [ranked],
        groups: ['user', ...groups],
        order: parts.order ?? 'most',
      }
    if (subject.role === 'top' || subject.role === 'which')
      return {
        ...base,
        shape: 'measure',
        measures: ['events'],
        groups: ['user', ...groups],
        order: parts.order ?? 'most',
        filters: withCrash(parts, roles, 'events'),
      }
  }
  if (
    (measure === 'sessions' || measure === 'users') &&
    further.includes(measure === 'sessions' ? 'crashes' : 'sessions')
  ) {
    const one: Measure = measure === 'sessions' ? 'crashed_sessions' : 'active_users'
    return { ...base, shape: 'measure', measures: [one], groups }
  }
  if (measure === 'sessions' && further.includes('events')) {
    const values = ['errored', 'unhandled', 'abnormal', 'crashed']
    const ill: Filter = { dimension: 'session_status', values, isNot: false }
    return { ...base, shape: 'measure', measures: ['sessions'], groups, filters: [...parts.filters, ill] }
  }
  const isJoined = others.find((one) => one.item.isJoined && one.role === 'plain' && one.measure !== null)
  const pair: readonly Measure[] =
    isJoined !== undefined &&
    isJoined.measure !== null &&
    FROM_EVENTS.has(isJoined.measure) &&
    isJoined.measure !== measure &&
    (measure === 'events' || measure === 'users' || measure === 'crashes')
      ? [measure, isJoined.measure]
      : [measure]
  // "The most common errors" are issues, and "Top crashes by users" those of most users.
  if (isIncident && hasOrder && isPlain) {
    if (rank !== null && rank !== 'users' && rank !== measure)
      return { problem: 'unknown', places: others.map(({ item }) => item) }
    return {
      ...base,
      shape: 'measure',
      measures: [rank ?? measure],
      groups: ['issue'],
      order: parts.order ?? 'most',
      filters: rank === 'users' && measure === 'crashes' ? [...parts.filters, CRASH] : parts.filters,
    }
  }
  const figure = parts.figure ?? (counted !== undefined && parts.order === null ? 'count' : null)
  return {
    ...base,
    figure,
    shape: 'measure',
    measures: pair,
    groups,
    filters: measure === 'crashes' ? parts.filters : withCrash(parts, roles, measure),
  }
}
