import { stemWord } from './words.ts'
import { TIME_WORDS } from './times.ts'

/** The keywords of questions, and the meaning of each. Pure. */

const MEASURES = [
  'events',
  'crashes',
  'users',
  'issues',
  'releases',
  'sessions',
  'active_users',
  'crashed_sessions',
  'crash_free_sessions',
  'crash_free_users',
  'crash_rate',
  'adoption',
  'session_share',
  'session_length',
  'anrs',
  'anr_rate',
  'transactions',
  'failure_rate',
  'failed_transactions',
  'cold_start',
  'warm_start',
  'screen_initial',
  'screen_full',
  'lcp',
  'fcp',
  'ttfb',
  'inp',
  'cls',
  'slow_frames',
  'frozen_frames',
  'low_memory',
  'battery_drain',
] as const
export type Measure = (typeof MEASURES)[number]

export const DIMENSIONS = [
  'release',
  'first_release',
  'environment',
  'os',
  'device',
  'device_class',
  'level',
  'platform',
  'status',
  'severity',
  'exception_type',
  'issue',
  'user',
  'screen',
  'transaction',
  'operation',
  'session_status',
  'assignee',
] as const
export type Dimension = (typeof DIMENSIONS)[number]

export type Figure = 'p50' | 'p75' | 'p90' | 'p95' | 'p99' | 'average' | 'maximum' | 'minimum' | 'spread' | 'count'
export type Bucket = 'minute' | 'hour' | 'day' | 'week' | 'month'

/** An order of issues, events or releases by their first or last time. */
export type Seen = { readonly by: 'first_seen' | 'last_seen'; readonly descending: boolean }

/** A keyword with its meaning. */
export type Meaning =
  | { readonly is: 'measure'; readonly measure: Measure; readonly bucket?: Bucket }
  | { readonly is: 'dimension'; readonly dimension: Dimension }
  | {
      readonly is: 'filter'
      readonly dimension: Dimension | 'unhandled'
      readonly values: readonly string[]
      readonly isNot?: true
    }
  | { readonly is: 'figure'; readonly figure: Figure }
  /** `isRanked`: the question asks which of them is the highest. */
  | { readonly is: 'bucket'; readonly bucket: Bucket; readonly isRanked?: true }
  | { readonly is: 'most'; readonly descending: boolean }
  | { readonly is: 'slow'; readonly descending: boolean }
  | { readonly is: 'worst'; readonly isBest: boolean }
  | {
      readonly is:
        | 'top'
        | 'count'
        | 'which'
        | 'released'
        | 'when'
        | 'only'
        | 'not'
        | 'compare'
        | 'versus'
        | 'before'
        | 'all'
        | 'time'
        | 'who'
        | 'filler'
    }
  /** `isEach`: "per", which may name a divisor. */
  | { readonly is: 'by'; readonly isEach: boolean }
  /** `isVerb`: "started", which may be said of anything. */
  | { readonly is: 'new'; readonly isVerb: boolean }
  | { readonly is: 'seen'; readonly seen: Seen }
  | { readonly is: 'than'; readonly more: boolean; readonly orEqual: boolean }

const measure = (one: Measure): Meaning => ({ is: 'measure', measure: one })
const dimension = (one: Dimension): Meaning => ({ is: 'dimension', dimension: one })
const filter = (one: Dimension | 'unhandled', ...values: string[]): Meaning => ({
  is: 'filter',
  dimension: one,
  values,
})
const figure = (one: Figure): Meaning => ({ is: 'figure', figure: one })
const bucket = (one: Bucket): Meaning => ({ is: 'bucket', bucket: one })
const seen = (by: Seen['by'], descending: boolean): Meaning => ({ is: 'seen', seen: { by, descending } })

/** Phrases in the singular, separated by commas. Nouns that may be misunderstood are in the grammar. */
const PHRASES: readonly (readonly [phrases: string, meaning: Meaning])[] = [
  ['event, error, exception, error event, occurrence, report, failure, problem', measure('events')],
  ['crash, crashed, crashing, fatal error, fatal event, crash report, fatality', measure('crashes')],
  ['user, affected user, impacted user, people, person, customer, visitor', measure('users')],
  ['issue, bug, ticket', measure('issues')],
  ['session, launch, visit', measure('sessions')],
  [
    'active user, session user, user with session, user are on, user is on, user are using, user are running, user are still on, user is still on, user still on, user still use, user are still using',
    measure('active_users'),
  ],
  ['crashed session, session crash, session with crash, session that crashed', measure('crashed_sessions')],
  [
    'crash free session, crash free rate, crash free session rate, crash free, session crash free rate, crash free percentage, stability, stability rate, crash free rate of session, rate of crash free session, share of crash free session',
    measure('crash_free_sessions'),
  ],
  [
    'crash free user, crash free user rate, user crash free rate, crash free rate of user, rate of crash free user, share of crash free user, crash free rate by user',
    measure('crash_free_users'),
  ],
  [
    'crash rate, rate of crash, crash percentage, share of crashed session, percentage of crashed session, percentage of session that crashed, share of session that crashed',
    measure('crash_rate'),
  ],
  ['adoption, adoption rate, release adoption', measure('adoption')],
  ['share of session, session share, share of all session', measure('session_share')],
  ['dau', { is: 'measure', measure: 'active_users', bucket: 'day' }],
  ['wau', { is: 'measure', measure: 'active_users', bucket: 'week' }],
  ['mau', { is: 'measure', measure: 'active_users', bucket: 'month' }],
  [
    'session duration, session length, how long do session last, how long does a session last, how long did session last, length of session, duration of session, time in app',
    measure('session_length'),
  ],
  ['anr, hang, app hang, freeze, application not responding, app not responding', measure('anrs')],
  ['anr rate, hang rate, rate of anr', measure('anr_rate')],
  [
    'transaction duration, duration of transaction, duration, latency, response time, request time, transaction time',
    measure('transactions'),
  ],
  [
    'failure rate, error rate, failed transaction rate, rate of failure, transaction failure rate',
    measure('failure_rate'),
  ],
  ['failed transaction, failed request, transaction that failed, request that failed', measure('failed_transactions')],
  [
    'cold start, cold start time, cold app start, app start, app start time, startup, startup time, start time, launch time, cold launch',
    measure('cold_start'),
  ],
  ['warm start, warm start time, warm app start, warm launch', measure('warm_start')],
  [
    'screen load, screen load time, screen time, load time, time to initial display, initial display, ttid, screen loading time, loading time',
    measure('screen_initial'),
  ],
  ['time to full display, full display, ttfd', measure('screen_full')],
  ['largest contentful paint, lcp', measure('lcp')],
  ['first contentful paint, fcp', measure('fcp')],
  ['time to first byte, ttfb', measure('ttfb')],
  ['interaction to next paint, inp', measure('inp')],
  ['cumulative layout shift, layout shift, cls', measure('cls')],
  ['slow frame', measure('slow_frames')],
  ['frozen frame', measure('frozen_frames')],
  ['low memory, low memory warning, memory warning', measure('low_memory')],
  ['battery drain, battery use, battery usage', measure('battery_drain')],

  ['release, version, app version, release version, build', dimension('release')],
  ['environment, stage', dimension('environment')],
  ['os, operating system, system', dimension('os')],
  ['device, device model, model, phone model, phone, handset', dimension('device')],
  ['device class, class of device, device tier', dimension('device_class')],
  ['level, log level', dimension('level')],
  ['platform', dimension('platform')],
  ['status, issue status, state', dimension('status')],
  ['session status', dimension('session_status')],
  ['severity, priority', dimension('severity')],
  ['assignee', dimension('assignee')],
  [
    'exception type, error type, type of exception, type of error, exception class, type, kind of error, kind of exception',
    dimension('exception_type'),
  ],
  ['screen, page, view, activity', dimension('screen')],
  ['transaction, endpoint, request, route, transaction name, name', dimension('transaction')],
  ['operation, op', dimension('operation')],

  ['warning, warning event', filter('level', 'warning')],
  ['fatal', filter('level', 'fatal')],
  ['non fatal, nonfatal', { is: 'filter', dimension: 'level', values: ['fatal'], isNot: true }],
  ['info', filter('level', 'info')],
  ['debug', filter('level', 'debug')],
  ['unresolved', filter('status', 'unresolved')],
  ['open, unfixed, active issue', filter('status', 'unresolved', 'regressed', 'escalated')],
  ['resolved, closed, fixed', filter('status', 'resolved')],
  ['ignored, archived', filter('status', 'ignored')],
  ['regressed, regression, reopened', filter('status', 'regressed')],
  ['escalated, escalating', filter('status', 'escalated')],
  ['critical', filter('severity', 'critical')],
  ['high severity, high priority, severity high, priority high', filter('severity', 'high')],
  ['medium severity, medium priority, severity medium, priority medium', filter('severity', 'medium')],
  ['low severity, low priority, severity low, priority low', filter('severity', 'low')],
  ['low device class, low end, low end device, low class, slow device', filter('device_class', 'low')],
  ['medium device class, mid range, mid range device, medium class', filter('device_class', 'medium')],
  ['high device class, high end, high end device, high class', filter('device_class', 'high')],
  ['unhandled, uncaught, not handled', filter('unhandled', 'true')],
  ['handled, caught', filter('unhandled', 'false')],

  ['p50, median, 50th percentile, typical', figure('p50')],
  ['p75, 75th percentile', figure('p75')],
  ['p90, 90th percentile', figure('p90')],
  ['p95, 95th percentile', figure('p95')],
  ['p99, 99th percentile', figure('p99')],
  ['average, mean', figure('average')],
  ['maximum, max, longest', figure('maximum')],
  ['minimum, shortest', figure('minimum')],
  ['percentile, distribution, how slow, how fast, how long', figure('spread')],

  ['per minute, by minute, each minute, every minute', bucket('minute')],
  ['hourly, per hour, by hour, each hour, every hour', bucket('hour')],
  [
    'daily, per day, by day, each day, every day, day by day, by date, over time, trend, time line, timeline, history, for each day',
    bucket('day'),
  ],
  ['which day, what day, busiest day, worst day', { is: 'bucket', bucket: 'day', isRanked: true }],
  ['which hour, what hour, busiest hour, worst hour', { is: 'bucket', bucket: 'hour', isRanked: true }],
  ['which week, what week, busiest week, worst week', { is: 'bucket', bucket: 'week', isRanked: true }],
  ['weekly, per week, by week, each week, every week', bucket('week')],
  ['monthly, per month, by month, each month, every month', bucket('month')],

  [
    'most, highest, biggest, largest, greatest, most often, most frequently, most common, most frequent, maximal',
    { is: 'most', descending: true },
  ],
  ['fewest, least, lowest, smallest, rarest', { is: 'most', descending: false }],
  ['worst, most unstable, least stable, buggiest, crashiest', { is: 'worst', isBest: false }],
  ['best, most stable, healthiest', { is: 'worst', isBest: true }],
  ['slowest, slow, slower', { is: 'slow', descending: true }],
  ['fastest, fast, quickest, faster', { is: 'slow', descending: false }],
  ['top', { is: 'top' }],
  [
    'latest, most recent, recent, last, by last seen, sorted by last seen, ordered by last seen, sort by last seen, order by last seen, most recent first, latest first',
    seen('last_seen', true),
  ],
  [
    'newest, youngest, by first seen, sorted by first seen, ordered by first seen, sort by first seen, order by first seen, newest first',
    seen('first_seen', true),
  ],
  ['oldest, earliest, first, oldest first', seen('first_seen', false)],
  ['released, release date, date of release', { is: 'released' }],
  ['only', { is: 'only' }],
  ['when', { is: 'when' }],
  [
    'how many, number of, count, count of, total number of, how often, the number of, amount of, total',
    { is: 'count' },
  ],
  [
    'by, grouped by, group by, broken down by, break down by, split by, breakdown by, sorted by, ordered by, ranked by, sort by, order by, rank by, across',
    { is: 'by', isEach: false },
  ],
  [
    'per, for each, in each, on each, of each, for every, in every, on every, of every, by each',
    { is: 'by', isEach: true },
  ],
  ['which, what, list, show, show me, give me, list all', { is: 'which' }],
  [
    "not, except, excluding, without, other than, not on, not in, but not, apart from, outside, isn't, aren't, wasn't, weren't, don't, doesn't, didn't, non",
    { is: 'not' },
  ],
  [
    'versus, compared with, compared to, compare with, in comparison with, against, than, than in, relative to, compared against, in contrast to',
    { is: 'versus' },
  ],
  ['compare, comparison, comparison of, compare the', { is: 'compare' }],
  [
    'before, previous one, previous period, previous day, previous week, previous month, previous hour, period before, time before, previous, the one before, week before, day before, month before, preceding period',
    { is: 'before' },
  ],
  ['who, who is, whom, who was, who were', { is: 'who' }],
  [
    'increase, increased, decrease, decreased, rise, rising, rose, drop, dropped, grow, grew, growing, fall, fell, improve, improved, change, changed, worse, better, go up, gone up, went up, go down, gone down, went down',
    { is: 'before' },
  ],
  ['new, first seen, introduced, newly', { is: 'new', isVerb: false }],
  ['appeared, appear, created, started', { is: 'new', isVerb: true }],
  ['ever, all time, of all time, overall, in total, since the beginning, so far', { is: 'all' }],
  ['time, times', { is: 'time' }],
  ['bad is, bad are, bad was', { is: 'filler' }],
  [
    'more than, over, above, exceeding, greater than, longer than, slower than, bigger than, higher than',
    { is: 'than', more: true, orEqual: false },
  ],
  ['at least, or more', { is: 'than', more: true, orEqual: true }],
  [
    'less than, fewer than, under, below, faster than, shorter than, lower than',
    { is: 'than', more: false, orEqual: false },
  ],
  ['at most', { is: 'than', more: false, orEqual: true }],
]

/** Words that say nothing. */
const FILLERS =
  'a an the of in on at to for from with and or is are was were be been being do did does has have had having it its their our my we i you me us there that this these those please can could would will shall should tell give get find see display print return calculate compute want know need let any some all every each about regarding during while where whose occur occurred occurring happen happened happening affect affected affecting hit hitting met meet meeting run running ran use used using received recorded reported seen saw come came cause caused by causing throw threw thrown raised stored currently current now right just much many how long what value data app application our project result row item lot same as breakdown also still yet again caused been per out up down come coming looking look like did get got experienced experience suffer suffered encountered encounter took take taken taking lasted see seeing open opened made make caught trigger triggered have having belong belonging belongs under between s one ones percent rate chart plot graph draw pls quick quickly more fewer less higher lower as ms millisecond second distinct different unique individual running installed shipped published went live ago so into within number of often overall ranked sorted ordered list descending'.split(
    ' ',
  )

const ofPhrases = new Map<string, Meaning>()
for (const [phrases, meaning] of PHRASES)
  for (const phrase of phrases.split(', ')) ofPhrases.set(phrase.split(' ').map(stemWord).join(' '), meaning)

const fillers = new Set(FILLERS.flatMap((word) => [word, stemWord(word)]))
const MAX_PHRASE_WORDS = 6

/** All words of phrases, times and fillers. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...[...ofPhrases.keys()].flatMap((phrase) => phrase.split(' ')),
  ...TIME_WORDS,
  ...fillers,
])

/** The longest phrase at a place, with the number of its words. */
export function readPhrase(stems: readonly string[], at: number): { meaning: Meaning; length: number } | null {
  for (let length = Math.min(MAX_PHRASE_WORDS, stems.length - at); length > 0; length--) {
    const meaning = ofPhrases.get(stems.slice(at, at + length).join(' '))
    if (meaning !== undefined) return { meaning, length }
  }
  return null
}

export const isFiller = (stem: string): boolean => fillers.has(stem)
