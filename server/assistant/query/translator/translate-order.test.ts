import { expect, test } from 'vitest'
import { testServer } from '#test/kit/test-server.ts'
import { guardStatement } from '../guard/guard-statement.ts'
import { readKnownValues } from './known-values.queries.ts'
import { DAY_MS, HOUR_MS, NOW, seedProject, type SeededEvent, type SeededIssue } from './translate-question.fixture.ts'
import { translateQuestion } from './translate-question.ts'

/** Questions about places and orders: the latest, the oldest, the worst. */

const server = await testServer()
const { app, clock } = server
clock.set(NOW)
const { id: projectId } = await server.project(await server.founder())
const { rows: owners } = await app.db.query<{ org_id: string; slug: string }>(
  'select org_id, slug from projects where id = $1',
  [projectId],
)
const { events, issues, sessions } = await seedProject(app, projectId, owners[0]?.org_id ?? '', owners[0]?.slug ?? '')
const known = await readKnownValues(app.db, projectId)

/** The rows of the answer, in their order; times and numbers are numbers. */
async function ask(question: string, ...columns: string[]): Promise<unknown[][]> {
  const one = translateQuestion(question, known, projectId, NOW)
  if ('refusal' in one) throw one.refusal
  const { sql } = await guardStatement(one.sql, projectId)
  return app.db.tx(async (tx) => {
    await tx.query(
      "select set_config('search_path', 'nlq', true), set_config('nlq.project', $1, true), set_config('nlq.oldest_day', '2026-10-01', true)",
      [projectId],
    )
    const { rows } = await tx.query<Record<string, unknown>>(sql)
    return rows.map((row) => (columns.length === 0 ? Object.keys(row) : columns).map((name) => valueOf(row[name])))
  })
}
const valueOf = (value: unknown): unknown =>
  value instanceof Date
    ? value.getTime()
    : typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)
      ? Number(value)
      : value

const now = NOW.getTime()
const [NEWEST, BEFORE] = ['shop@4.12.1', 'shop@4.12.0']
const within =
  (from: number, to = now) =>
  ({ at }: { at: number }): boolean =>
    at >= from && at < to
const usual = within(now - 30 * DAY_MS)
const isCrash = ({ level }: SeededEvent): boolean => level === 'fatal'
const isOf =
  (...releases: string[]) =>
  ({ release }: { release: string }): boolean =>
    releases.includes(release)
const crashes = events.filter(isCrash).filter(usual)
const timesOf = (issue: SeededIssue): number[] => events.filter((one) => one.issue === issue).map(({ at }) => at)
const firstSeen = (issue: SeededIssue): number => Math.min(...timesOf(issue))
const lastSeen = (issue: SeededIssue): number => Math.max(...timesOf(issue))
const usersOf = (list: readonly { user: string }[]): number => new Set(list.map(({ user }) => user)).size
const percent = (part: number, whole: number): number => Math.round((part / whole) * 10_000) / 100
const newestTimes = (list: readonly SeededEvent[], count: number): number[][] =>
  list
    .map(({ at }) => [at])
    .toSorted(([a = 0], [b = 0]) => b - a)
    .slice(0, count)
const byNumber = (rows: (string | number)[][], sign: number): (string | number)[][] =>
  rows.toSorted((a, b) => sign * (Number(a[1]) - Number(b[1])) || (String(a[0]) < String(b[0]) ? -1 : 1))
const issuesByUsers = (list: readonly SeededEvent[]): (string | number)[][] =>
  byNumber(
    [...Map.groupBy(list, ({ issue }) => issue.shortId)].map(([name, own]) => [name, usersOf(own)]),
    -1,
  )

const TODAY = now - 12 * HOUR_MS
const counted = (from: number, to?: number): number[][] => [[events.filter(within(from, to)).length]]
const LAST_WEEK = Date.parse('2026-11-09')
const recent = sessions.filter(usual)
const isOnIos = ({ os }: { os: string }): boolean => os === 'iOS'
const crashFreeByRelease = (sign: number): (string | number)[][] =>
  byNumber(
    [...Map.groupBy(recent, ({ release }) => release)].map(([name, own]) => [
      name,
      percent(own.filter(({ status }) => status !== 'crashed').length, own.length),
    ]),
    sign,
  )
const MORNING = counted(TODAY + 6 * HOUR_MS)
const YESTERDAY = counted(TODAY - 15 * HOUR_MS, TODAY - 12 * HOUR_MS)

const CASES: readonly (readonly [question: string, wanted: unknown[][], ...columns: string[]])[] = [
  ['crashes in the newest release', [[crashes.filter(isOf(NEWEST)).length]]],
  ['crashes in the previous release', [[crashes.filter(isOf(BEFORE)).length]]],
  ['crashes in the last 2 releases', [[crashes.filter(isOf(NEWEST, BEFORE)).length]]],
  [
    'crash-free rate of the latest version',
    [
      [
        percent(
          sessions.filter(usual).filter((one) => isOf(NEWEST)(one) && one.status !== 'crashed').length,
          sessions.filter(usual).filter(isOf(NEWEST)).length,
        ),
      ],
    ],
    'crash_free_percent',
  ],
  [
    'top 5 issues in the latest release',
    byNumber(
      [...Map.groupBy(events.filter(isOf(NEWEST)), ({ issue }) => issue.shortId)].map(([name, own]) => [
        name,
        own.length,
      ]),
      -1,
    ).slice(0, 5),
    'short_id',
    'events',
  ],
  ['last release', [[NEWEST]], 'version'],
  ['current release', [[NEWEST]], 'version'],
  ['oldest release', [['shop@4.10.0']], 'version'],
  [
    'when was 4.12 released',
    [
      [NEWEST, now - 6 * DAY_MS],
      [BEFORE, now - 12 * DAY_MS],
    ],
    'version',
    'released_at',
  ],
  ['most recent crashes', newestTimes(crashes, 50), 'time'],
  ['latest 10 crashes', newestTimes(crashes, 10), 'time'],
  ['show the last 5 errors', newestTimes(events, 5), 'time'],
  ['when was the last crash', newestTimes(crashes, 1), 'time'],
  [
    'ten newest issues',
    issues
      .map((one) => [firstSeen(one)])
      .toSorted(([a = 0], [b = 0]) => b - a)
      .slice(0, 10),
    'first_seen',
  ],
  [
    'oldest unresolved issues',
    issues
      .filter(({ status }) => status === 'unresolved')
      .map((one) => [firstSeen(one)])
      .toSorted(([a = 0], [b = 0]) => a - b),
    'first_seen',
  ],
  [
    'issues sorted by last seen',
    issues.map((one) => [lastSeen(one)]).toSorted(([a = 0], [b = 0]) => b - a),
    'last_seen',
  ],
  ...['new issues by release', 'which version introduced the most issues'].map((question): [string, unknown[][]] => [
    question,
    byNumber(
      [
        ...Map.groupBy(
          issues,
          (issue) => events.find((one) => one.issue === issue && one.at === firstSeen(issue))?.release,
        ),
      ].map(([release, own]) => [release ?? '', own.length]),
      -1,
    ),
  ]),
  ['events yesterday between 09:00 and 12:00', YESTERDAY],
  ['events between 9am and 12:00 yesterday', YESTERDAY],
  ['events the day before yesterday', counted(TODAY - 2 * DAY_MS, TODAY - DAY_MS)],
  ['events this morning', MORNING],
  [
    'events yesterday vs the previous day',
    [
      ['yesterday', counted(TODAY - DAY_MS, TODAY)[0]?.[0]],
      ['the time before', counted(TODAY - 2 * DAY_MS, TODAY - DAY_MS)[0]?.[0]],
    ],
  ],
  ['events yesterday evening', counted(TODAY - 6 * HOUR_MS, TODAY)],
  ['events tonight', [[0]]],
  ['events last night', counted(TODAY - 6 * HOUR_MS, TODAY + 6 * HOUR_MS)],
  ['events overnight', counted(TODAY - 6 * HOUR_MS, TODAY + 6 * HOUR_MS)],
  ['events in Q4', counted(Date.parse('2026-10-01'))],
  ['events this quarter', counted(Date.parse('2026-10-01'))],
  ['events last quarter', [[0]]],
  ['events month to date', counted(Date.parse('2026-11-01'))],
  ['events week to date', counted(Date.parse('2026-11-16'))],
  ['events ytd', counted(0)],
  ['events so far this week', counted(Date.parse('2026-11-16'))],
  ['events in prodution', [[events.filter(usual).filter((one) => one.environment === 'production').length]]],
  [
    'share of sessions on iOS',
    [['iOS', percent(recent.filter(isOnIos).length, recent.length)]],
    'os',
    'percent_of_sessions',
  ],
  ['worst crash-free rate by release', crashFreeByRelease(1), 'release', 'crash_free_percent'],
  ['best crash-free rate by release', crashFreeByRelease(-1), 'release', 'crash_free_percent'],
  ['most stable release', crashFreeByRelease(-1), 'release', 'crash_free_percent'],
  [
    'lowest adoption',
    byNumber(
      [...Map.groupBy(recent, ({ release }) => release)].map(([name, own]) => [name, own.length]),
      1,
    ),
    'release',
    'sessions',
  ],
  [
    'DAU last week',
    [...Map.groupBy(sessions.filter(within(LAST_WEEK, LAST_WEEK + 7 * DAY_MS)), ({ at }) => Math.floor(at / DAY_MS))]
      .toSorted(([a], [b]) => a - b)
      .map(([day, own]) => [day * DAY_MS, usersOf(own)]),
  ],
  ['MAU', [[usersOf(recent)]]],
  [
    'are there more events than last week',
    [
      ['since then', counted(LAST_WEEK + 7 * DAY_MS)[0]?.[0]],
      ['last week', counted(LAST_WEEK, LAST_WEEK + 7 * DAY_MS)[0]?.[0]],
    ],
  ],
  [
    'is the number of events higher than last week',
    [
      ['since then', counted(LAST_WEEK + 7 * DAY_MS)[0]?.[0]],
      ['last week', counted(LAST_WEEK, LAST_WEEK + 7 * DAY_MS)[0]?.[0]],
    ],
  ],
  [
    'exceptions with at least 60 events',
    byNumber(
      issues.map((one) => [one.shortId, timesOf(one).length]).filter(([, count]) => Number(count) >= 60),
      -1,
    ),
    'short_id',
    'event_count',
  ],
  [
    'non-fatals by version',
    byNumber(
      [
        ...Map.groupBy(
          events.filter(usual).filter((one) => !isCrash(one)),
          ({ release }) => release,
        ),
      ].map(([name, own]) => [name, own.length]),
      -1,
    ),
  ],
  ['issues by assignee', [[null, issues.length]]],
  ['top crashes by users', issuesByUsers(crashes).slice(0, 10), 'short_id', 'users'],
  ['which errors affect most users', issuesByUsers(events.filter(usual)), 'short_id', 'users'],
]

test.each(CASES.map(([question, wanted, ...columns]) => ({ question, wanted, columns })))(
  '$question',
  async ({ question, wanted, columns }) => {
    expect(await ask(question, ...columns)).toEqual(wanted)
  },
)

test.each([
  ['latest release on Android', 'not known by operating system'],
  ['fatal events per 1000 sessions', 'understand "sessions"'],
  ['error events per session', 'understand "session"'],
  ['share of sessions on iOS in 4.12', 'the share'],
  ['issues assigned this week', 'understand "assigned"'],
  ['which errors happen only on iOS', 'understand "only"'],
  ['highest crash rate', 'order by it'],
  ['how many slow transactions', 'slowest of them'],
  ['new users', 'understand "new"'],
  ['recent users', 'understand "recent"'],
  ['which version introduced the most crashes', 'understand "introduced"'],
  ['crashes yesterday and today', 'two times only'],
])('"%s" is refused', (question, problem) => {
  const one = translateQuestion(question, known, projectId, NOW)
  expect('refusal' in one ? one.refusal.message : one.sql).toContain(problem)
})
