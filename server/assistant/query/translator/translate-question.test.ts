import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { cases } from '#test/kit/properties.ts'
import { testServer } from '#test/kit/test-server.ts'
import { guardStatement } from '../guard/guard-statement.ts'
import {
  DAY_MS,
  HOUR_MS,
  NOW,
  seedProject,
  type SeededEvent,
  type SeededIssue,
  type SeededMeasurement,
  type SeededSession,
} from './translate-question.fixture.ts'
import { readKnownValues } from './known-values.queries.ts'
import { loadGrammar, readStatement } from '../guard/read-statement.ts'
import { translateQuestion } from './translate-question.ts'
import { KEYWORDS } from './vocabulary.ts'

const server = await testServer()
const { app, clock } = server
clock.set(NOW)
const founder = await server.founder()
const project = await server.project(founder)
const projectId = project.id
const { rows: owners } = await app.db.query<{ org_id: string; slug: string }>(
  'select org_id, slug from projects where id = $1',
  [projectId],
)
const seeded = await seedProject(app, projectId, owners[0]?.org_id ?? '', owners[0]?.slug ?? '')
const { events, issues, sessions, measurements } = seeded
const shortIdOf = (n: number): string => issues[n]?.shortId ?? ''

type Value = string | number | null
type Rows = Value[][]

const translated = async (question: string) =>
  translateQuestion(question, await readKnownValues(app.db, projectId), projectId, NOW)

/** Translates, passes the guard and runs. Numbers are numbers, times are texts. */
async function ask(question: string): Promise<{ columns: string[]; rows: Rows; sql: string }> {
  const one = await translated(question)
  if ('refusal' in one) throw one.refusal
  const { sql } = await guardStatement(one.sql, projectId)
  return app.db.tx(async (tx) => {
    await tx.query(
      "select set_config('search_path', 'nlq', true), set_config('nlq.project', $1, true), set_config('nlq.oldest_day', '2026-10-01', true)",
      [projectId],
    )
    const { rows } = await tx.query<Record<string, unknown>>(sql)
    const columns = Object.keys(rows[0] ?? {})
    return { sql: one.sql, columns, rows: rows.map((row) => columns.map((name) => valueOf(row[name]))) }
  })
}

function valueOf(value: unknown): Value {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  return typeof value === 'number' || typeof value === 'string' ? value : null
}

const at = (text: string): number => Date.parse(text.length === 10 ? `${text}T00:00Z` : `${text}Z`)
const since =
  (from: number, to = Number.POSITIVE_INFINITY) =>
  (one: { at: number }): boolean =>
    one.at >= from && one.at < to
const lastDays = (days: number) => since(NOW.getTime() - days * DAY_MS)
/** Where a question names no time. */
const usual = lastDays(30)
const all =
  (...tests: ((one: never) => boolean)[]) =>
  (one: unknown): boolean =>
    tests.every((one_) => one_(one as never))
const is =
  <K extends string>(key: K, ...values: string[]) =>
  (one: Record<K, string>): boolean =>
    values.includes(one[key])
const not =
  <T>(condition: (one: T) => boolean) =>
  (one: T): boolean =>
    !condition(one)
const crash = is('level', 'fatal')
const ofIssue =
  (condition: (issue: SeededIssue) => boolean) =>
  ({ issue }: SeededEvent): boolean =>
    condition(issue)

const n = (list: readonly unknown[]): Value[][] => [[list.length]]
const E = (...conditions: ((one: never) => boolean)[]): SeededEvent[] => events.filter(all(...conditions))
const S = (...conditions: ((one: never) => boolean)[]): SeededSession[] => sessions.filter(all(...conditions))
const M = (kind: SeededMeasurement['kind'], ...conditions: ((one: never) => boolean)[]): SeededMeasurement[] =>
  // Starts and screens are measured by transactions, which count as such.
  measurements.filter(all(kind === 'transaction' ? () => true : is('kind', kind), ...conditions))
const I = (...conditions: ((one: SeededIssue) => boolean)[]): SeededIssue[] =>
  issues.filter((one) => conditions.every((condition) => condition(one)))
const users = (list: readonly { user: string }[]): number => new Set(list.map(({ user }) => user)).size
const seenIn =
  (...conditions: ((one: never) => boolean)[]) =>
  (issue: SeededIssue): boolean =>
    events.some((event) => event.issue === issue && all(...conditions)(event))
const firstSeen = (issue: SeededIssue): number =>
  Math.min(...events.filter((one) => one.issue === issue).map((one) => one.at))
const lastSeen = (issue: SeededIssue): number =>
  Math.max(...events.filter((one) => one.issue === issue).map((one) => one.at))
const isNew =
  (from: number, to = Number.POSITIVE_INFINITY) =>
  (issue: SeededIssue): boolean =>
    firstSeen(issue) >= from && firstSeen(issue) < to
const firstOf = (issue: SeededIssue): SeededEvent =>
  events.filter((one) => one.issue === issue).reduce((a, b) => (b.at < a.at ? b : a))
const isSeen =
  (from: number) =>
  (issue: SeededIssue): boolean =>
    lastSeen(issue) >= from

/** Rows of groups: the key, then what is counted of each. */
function by<T>(list: readonly T[], key: (one: T) => string, ...figures: ((own: T[]) => Value | Value[])[]): Rows {
  const groups = Map.groupBy(list, key)
  return [...groups].map(([name, own]) => [name, ...figures.flatMap((figure) => figure(own))])
}
const size = (own: readonly unknown[]): number => own.length
const day = ({ at: time }: { at: number }): string => new Date(Math.floor(time / DAY_MS) * DAY_MS).toISOString()
const hour = ({ at: time }: { at: number }): string => new Date(Math.floor(time / HOUR_MS) * HOUR_MS).toISOString()
const week = ({ at: time }: { at: number }): string => {
  const start = Math.floor(time / DAY_MS) * DAY_MS
  return new Date(start - ((new Date(start).getUTCDay() + 6) % 7) * DAY_MS).toISOString()
}
const top = (rows: Rows, count: number, column = 1, sign = -1): Rows =>
  rows
    .toSorted((a, b) => sign * (Number(a[column]) - Number(b[column])) || String(a[0]).localeCompare(String(b[0])))
    .slice(0, count)
const percent = (part: number, whole: number): number => Math.round((part / whole) * 10_000) / 100
const crashFree = (own: readonly SeededSession[]): number =>
  percent(own.filter(({ status }) => status !== 'crashed').length, own.length)
const crashFreeUsers = (own: readonly SeededSession[]): number => {
  const crashed = users(own.filter(({ status }) => status === 'crashed'))
  return percent(users(own) - crashed, users(own))
}
function quantile(q: number): (own: readonly { ms: number }[]) => number {
  return (own) => {
    const sorted = own.map(({ ms }) => ms).toSorted((a, b) => a - b)
    const place = q * (sorted.length - 1)
    const low = sorted[Math.floor(place)] ?? 0
    return low + ((sorted[Math.ceil(place)] ?? 0) - low) * (place % 1)
  }
}
const [p50, p75, p95] = [quantile(0.5), quantile(0.75), quantile(0.95)]
const spread = (own: readonly SeededMeasurement[]): Value[] => [p50(own), p75(own), p95(own), own.length]
/** Issues in lists: the name and what they are ordered by. */
const listed = (list: readonly SeededIssue[], count: (issue: SeededIssue) => number, limit: number): Rows =>
  list
    .map((issue): [string, number, number] => [issue.shortId, count(issue), issues.indexOf(issue)])
    .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, limit)
    .map(([name, value]) => [name, value])
const eventsOf =
  (...conditions: ((one: never) => boolean)[]) =>
  (issue: SeededIssue): number =>
    events.filter((one) => one.issue === issue && all(...conditions)(one)).length
const usersOf =
  (...conditions: ((one: never) => boolean)[]) =>
  (issue: SeededIssue): number =>
    users(events.filter((one) => one.issue === issue && all(...conditions)(one)))

const now = NOW.getTime()
const R412 = ['shop@4.12.0', 'shop@4.12.1']
const TUESDAY = at('2026-11-17')
const MONDAY = at('2026-11-16')

/** Which columns of the result are compared; all by default. */
type Case = readonly [question: string, wanted: () => Rows, columns?: readonly string[]]

const LISTED_EVENTS = ['short_id', 'event_count']
const LISTED_IN_SPAN = ['short_id', 'events']

const CASES: readonly Case[] = [
  // Counts of events, in many words.
  ['How many events were there in the last 24 hours?', () => n(E(lastDays(1)))],
  ['how many errors in the past 24 hours', () => n(E(lastDays(1)))],
  ['Number of events today', () => n(E(since(at('2026-11-20'))))],
  ['count of exceptions yesterday', () => n(E(since(at('2026-11-19'), at('2026-11-20'))))],
  ['How many evnets yesteday?', () => n(E(since(at('2026-11-19'), at('2026-11-20'))))],
  ['total number of events since Tuesday', () => n(E(since(TUESDAY)))],
  ['How many events since last Tuesday', () => n(E(since(TUESDAY)))],
  ['events since 2026-11-10', () => n(E(since(at('2026-11-10'))))],
  ['events in November', () => n(E(since(at('2026-11-01'), at('2026-12-01'))))],
  ['How many events occurred in October 2026?', () => n(E(since(at('2026-10-01'), at('2026-11-01'))))],
  ['How many events happened between 1 and 5 November?', () => n(E(since(at('2026-11-01'), at('2026-11-06'))))],
  ['events from November 1 to November 5', () => n(E(since(at('2026-11-01'), at('2026-11-06'))))],
  ['events between 2026-11-01 and 2026-11-05', () => n(E(since(at('2026-11-01'), at('2026-11-06'))))],
  ['events on 2026-11-18', () => n(E(since(at('2026-11-18'), at('2026-11-19'))))],
  ['How many events on Wednesday?', () => n(E(since(at('2026-11-18'), at('2026-11-19'))))],
  ['events before 10 November', () => n(E(since(0, at('2026-11-10'))))],
  ['events until 5 November 2026', () => n(E(since(0, at('2026-11-06'))))],
  ['events after 5th of November', () => n(E(since(at('2026-11-06'))))],
  ['how many events in the last week', () => n(E(lastDays(7)))],
  ['how many events last week', () => n(E(since(at('2026-11-09'), MONDAY)))],
  ['events this week', () => n(E(since(MONDAY)))],
  ['events this month', () => n(E(since(at('2026-11-01'))))],
  ['events last month', () => n(E(since(at('2026-10-01'), at('2026-11-01'))))],
  ['events 3 days ago', () => n(E(since(at('2026-11-17'), at('2026-11-18'))))],
  ['events in the last 48h', () => n(E(lastDays(2)))],
  ['events of the last two weeks', () => n(E(lastDays(14)))],
  ['How many events are there overall?', () => n(events)],
  ['how many events were there', () => n(E(usual))],
  ['events since 09:00', () => n(E(since(at('2026-11-20T09:00'))))],
  ['plot events of the past fortnight', () => n(E(lastDays(14)))],
  ['events over the weekend', () => n(E(since(at('2026-11-14'), MONDAY)))],

  // Crashes and users.
  ['How many crashes were there in the last 7 days?', () => n(E(crash, lastDays(7)))],
  ['crashs in the last 7 days', () => n(E(crash, lastDays(7)))],
  ['How often did the app crash yesterday?', () => n(E(crash, since(at('2026-11-19'), at('2026-11-20'))))],
  ['How many users were affected by crashes this week?', () => [[users(E(crash, since(MONDAY)))]]],
  ['How many users were affected in the last 7 days?', () => [[users(E(lastDays(7)))]]],
  ['number of distinct users with errors since Monday', () => [[users(E(since(MONDAY)))]]],
  ['how many people hit a TypeError in the last 7 days', () => [[users(E(is('type', 'TypeError'), lastDays(7)))]]],
  ['How many warnings were there this month?', () => n(E(is('level', 'warning'), since(at('2026-11-01'))))],
  ['fatal events in the last 3 days', () => n(E(crash, lastDays(3)))],

  // Filters.
  ['How many crashes in 4.12?', () => n(E(crash, is('release', ...R412), usual))],
  [
    'How many crashes in release 4.12.0 in the last 14 days?',
    () => n(E(crash, is('release', 'shop@4.12.0'), lastDays(14))),
  ],
  ['crashes on version 4.11', () => n(E(crash, is('release', 'shop@4.11.0'), usual))],
  [
    'events in production yesterday',
    () => n(E(is('environment', 'production'), since(at('2026-11-19'), at('2026-11-20')))),
  ],
  ['events in the staging environment this week', () => n(E(is('environment', 'staging'), since(MONDAY)))],
  ['events not in production this week', () => n(E(not(is('environment', 'production')), since(MONDAY)))],
  ['How many crashes on Android in the last 30 days?', () => n(E(crash, is('os', 'Android'), usual))],
  ['crashes on iOS devices', () => n(E(crash, is('os', 'iOS'), usual))],
  ['crashes on Android and iOS in the last 7 days', () => n(E(crash, lastDays(7)))],
  ['events on Pixel 8 in the last 7 days', () => n(E(is('device', 'Pixel 8'), lastDays(7)))],
  ['events for device "iPhone15,2"', () => n(E(is('device', 'iPhone15,2'), usual))],
  ['How many events except on Galaxy S9 since Tuesday?', () => n(E(not(is('device', 'Galaxy S9')), since(TUESDAY)))],
  [
    'How many NullPointerExceptions were there in 4.11?',
    () => n(E(is('type', 'NullPointerException'), is('release', 'shop@4.11.0'), usual)),
  ],
  ['events with exception type OutOfMemoryError', () => n(E(is('type', 'OutOfMemoryError'), usual))],
  ['events with level error yesterday', () => n(E(is('level', 'error'), since(at('2026-11-19'), at('2026-11-20'))))],
  ['How many events for user 17?', () => n(E(is('user', '17'), usual))],
  ['crashes of user 3 in the last 14 days', () => n(E(crash, is('user', '3'), lastDays(14)))],
  [
    'How many unhandled events in the last 7 days?',
    () =>
      n(
        E(
          ofIssue((one) => one.isUnhandled),
          lastDays(7),
        ),
      ),
  ],
  [
    'handled errors in the last 7 days',
    () =>
      n(
        E(
          ofIssue((one) => !one.isUnhandled),
          lastDays(7),
        ),
      ),
  ],
  ['events of platform cocoa in the last 7 days', () => n(E(ofIssue(is('platform', 'cocoa')), lastDays(7)))],
  [`how many events does issue ${shortIdOf(1)} have`, () => n(E(ofIssue(is('shortId', shortIdOf(1))), usual))],
  ['events of unresolved issues in the last 7 days', () => n(E(ofIssue(is('status', 'unresolved')), lastDays(7)))],
  [
    'crashes on Android in production in 4.12 this week',
    () => n(E(crash, is('os', 'Android'), is('environment', 'production'), is('release', ...R412), since(MONDAY))),
  ],

  // Groups.
  ['Events by release in the last 7 days', () => by(E(lastDays(7)), (one) => one.release, size)],
  ['crashes per release since Tuesday', () => by(E(crash, since(TUESDAY)), (one) => one.release, size)],
  ['crashes for each environment', () => by(E(crash, usual), (one) => one.environment, size)],
  ['events grouped by os', () => by(E(usual), (one) => one.os, size)],
  ['events by operating system this week', () => by(E(since(MONDAY)), (one) => one.os, size)],
  ['errors by device in the last week', () => by(E(lastDays(7)), (one) => one.device, size)],
  ['events by level', () => by(E(usual), (one) => one.level, size)],
  ['events broken down by exception type', () => by(E(usual), (one) => one.type, size)],
  ['users by release this month', () => by(E(since(at('2026-11-01'))), (one) => one.release, users)],
  ['How many users were affected per device?', () => by(E(usual), (one) => one.device, users)],
  ['events per user in the last 3 days', () => by(E(lastDays(3)), (one) => one.user, size), ['events']],
  [
    'Events by release and environment in the last 7 days',
    () =>
      by(E(lastDays(7)), (one) => `${one.release}|${one.environment}`, size).map(([key, ...rest]) => [
        ...String(key).split('|'),
        ...rest,
      ]),
  ],
  ['Which release has the most crashes?', () => by(E(crash, usual), (one) => one.release, size)],
  [
    'which devices crash most often on Android',
    () => by(E(crash, is('os', 'Android'), usual), (one) => one.device, size),
  ],
  [
    'Top 2 devices by crashes in the last 14 days',
    () =>
      top(
        by(E(crash, lastDays(14)), (one) => one.device, size),
        2,
      ),
  ],
  [
    'top three exception types since Tuesday',
    () =>
      top(
        by(E(since(TUESDAY)), (one) => one.type, size),
        3,
      ),
  ],
  [
    '2 worst releases by users',
    () =>
      top(
        by(E(usual), (one) => one.release, users),
        2,
      ),
  ],
  ['worst devices', () => by(E(crash, usual), (one) => one.device, size)],
  [
    'the 3 most common exception types',
    () =>
      top(
        by(E(usual), (one) => one.type, size),
        3,
      ),
  ],
  [
    'Which environment had the fewest events last week?',
    () => by(E(since(at('2026-11-09'), MONDAY)), (one) => one.environment, size),
  ],
  [
    'events by issue in the last 2 days',
    () => by(E(lastDays(2)), (one) => one.issue.shortId, size),
    ['short_id', 'events'],
  ],
  [
    'crashes and users by release',
    () =>
      by(
        E(usual),
        (one) => one.release,
        (own) => own.filter(crash).length,
        users,
      ),
  ],
  [
    'releases with more than 30 crashes',
    () => by(E(crash, usual), (one) => one.release, size).filter(([, count]) => Number(count) > 30),
  ],

  // Over time.
  ['Events per day in the last 7 days', () => by(E(lastDays(7)), day, size)],
  ['crashes by hour yesterday', () => by(E(crash, since(at('2026-11-19'), at('2026-11-20'))), hour, size)],
  ['daily users affected this week', () => by(E(since(MONDAY)), day, users)],
  ['weekly crashes in November', () => by(E(crash, since(at('2026-11-01'), at('2026-12-01'))), week, size)],
  ['trend of crashes in 4.12', () => by(E(crash, is('release', ...R412), usual), day, size)],
  [
    'events over time by os in the last 3 days',
    () =>
      by(E(lastDays(3)), (one) => `${day(one)}|${one.os}`, size).map(([key, ...rest]) => [
        ...String(key).split('|'),
        ...rest,
      ]),
  ],
  ['Which day had the most crashes in the last 14 days?', () => by(E(crash, lastDays(14)), day, size)],

  // Issues.
  ['How many issues are there?', () => n(issues)],
  ['How many unresolved issues do we have?', () => n(I(is('status', 'unresolved')))],
  ['how many open issues', () => n(I(is('status', 'unresolved', 'regressed', 'escalated')))],
  ['number of critical issues', () => n(I(is('severity', 'critical')))],
  ['How many issues of high severity are unresolved?', () => n(I(is('severity', 'high'), is('status', 'unresolved')))],
  ['How many new issues since Tuesday?', () => n(I(isNew(TUESDAY)))],
  ['new issues in the last 48 hours', () => listed(I(isNew(now - 2 * DAY_MS)), eventsOf(), 50), LISTED_EVENTS],
  ['how many issues were seen in the last 24 hours', () => n(I(isSeen(now - DAY_MS)))],
  ['How many issues occurred yesterday?', () => n(I(seenIn(since(at('2026-11-19'), at('2026-11-20')))))],
  ['how many unhandled issues are there', () => n(I((one) => one.isUnhandled))],
  ['How many issues affect Android in 4.12?', () => n(I(seenIn(is('os', 'Android')), seenIn(is('release', ...R412))))],
  ['issues by status', () => by(issues, (one) => one.status, size)],
  ['How many issues by severity?', () => by(issues, (one) => one.severity, size)],
  [
    'issues per release in the last 7 days',
    () =>
      by(
        E(lastDays(7)),
        (one) => one.release,
        (own) => new Set(own.map((one) => one.issue)).size,
      ),
  ],
  ['how many issues were resolved in the last 7 days', () => n(I((one) => (one.resolvedAt ?? 0) >= now - 7 * DAY_MS))],
  ['regressed issues', () => listed(I(is('status', 'regressed')), eventsOf(), 10), LISTED_EVENTS],
  ['Top 5 issues', () => listed(issues, eventsOf(), 5), LISTED_EVENTS],
  [
    'top 10 unresolved issues by users',
    () => listed(I(is('status', 'unresolved')), usersOf(), 10),
    ['short_id', 'user_count'],
  ],
  [
    'Top 3 issues in 4.12 since Tuesday',
    () =>
      listed(I(seenIn(is('release', ...R412), since(TUESDAY))), eventsOf(is('release', ...R412), since(TUESDAY)), 3),
    LISTED_IN_SPAN,
  ],
  [
    'Which issues have the most users in the last 7 days?',
    () => listed(I(seenIn(lastDays(7))), usersOf(lastDays(7)), 10),
    ['short_id', 'users'],
  ],
  [
    'show me the issues on Pixel 8 yesterday',
    () =>
      listed(
        I(seenIn(is('device', 'Pixel 8'), since(at('2026-11-19'), at('2026-11-20')))),
        eventsOf(is('device', 'Pixel 8'), since(at('2026-11-19'), at('2026-11-20'))),
        10,
      ),
    LISTED_IN_SPAN,
  ],
  [
    'issues with more than 60 events',
    () =>
      listed(
        I((one) => eventsOf()(one) > 60),
        eventsOf(),
        10,
      ),
    LISTED_EVENTS,
  ],
  ['How many issues with at least 10 users?', () => n(I((one) => usersOf()(one) >= 10))],
  ['list issues with TypeError', () => listed(I(is('type', 'TypeError')), eventsOf(), 10), LISTED_EVENTS],
  ['issues for user 17', () => listed(I(seenIn(is('user', '17'))), eventsOf(is('user', '17')), 10), LISTED_IN_SPAN],
  [
    'Which users have the most crashes this week?',
    () => by(E(crash, since(MONDAY)), (one) => one.user, size),
    ['crashes'],
  ],

  ['What is new this week?', () => listed(I(isNew(MONDAY)), eventsOf(), 50), LISTED_EVENTS],
  [
    'new issues in 4.12',
    () =>
      listed(
        I((issue) => R412.includes(firstOf(issue).release)),
        eventsOf(),
        50,
      ),
    LISTED_EVENTS,
  ],
  ['new crashes since Monday', () => listed(I(isNew(MONDAY), crash), eventsOf(), 50), LISTED_EVENTS],
  [
    'most common errors in the last 2 days',
    () => by(E(lastDays(2)), (one) => one.issue.shortId, size),
    ['short_id', 'events'],
  ],
  [
    'What are the 3 most frequent crashes on Android?',
    () =>
      top(
        by(E(crash, is('os', 'Android'), usual), (one) => one.issue.shortId, size),
        3,
      ),
    ['short_id', 'crashes'],
  ],
  [
    `who is affected by ${shortIdOf(0)}`,
    () => by(E(ofIssue(is('shortId', shortIdOf(0))), usual), (one) => one.user, size),
    ['events'],
  ],
  [
    'events per minute in the last 2 hours',
    () => by(E(since(now - 2 * HOUR_MS)), (one) => new Date(Math.floor(one.at / 60_000) * 60_000).toISOString(), size),
  ],

  // Comparisons.
  [
    'did crashes increase this week?',
    () => [
      ['this week', E(crash, since(MONDAY)).length],
      ['the time before', E(crash, since(at('2026-11-09'), MONDAY)).length],
    ],
  ],
  [
    'are there more crashes in 4.12.0 than in 4.11.0?',
    () => by(E(crash, is('release', 'shop@4.12.0', 'shop@4.11.0'), usual), (one) => one.release, size),
  ],
  [
    'crashes in 4.12.0 compared with 4.11.0',
    () => by(E(crash, is('release', 'shop@4.12.0', 'shop@4.11.0'), usual), (one) => one.release, size),
  ],
  [
    'Compare events of 4.10 and 4.11 this week',
    () => by(E(is('release', 'shop@4.10.0', 'shop@4.11.0'), since(MONDAY)), (one) => one.release, size),
  ],
  ['Crashes on Android vs iOS in the last 7 days', () => by(E(crash, lastDays(7)), (one) => one.os, size)],
  [
    'crashes this week against last week',
    () => [
      ['this week', E(crash, since(MONDAY)).length],
      ['last week', E(crash, since(at('2026-11-09'), MONDAY)).length],
    ],
  ],
  [
    'How many users were affected today compared to yesterday?',
    () => [
      ['today', users(E(since(at('2026-11-20'))))],
      ['yesterday', users(E(since(at('2026-11-19'), at('2026-11-20'))))],
    ],
  ],
  [
    'events in the last 7 days compared with the previous period',
    () => [
      ['the last 7 days', E(lastDays(7)).length],
      ['the time before', E(since(now - 14 * DAY_MS, now - 7 * DAY_MS)).length],
    ],
  ],
  [
    'new issues this week versus last week',
    () => [
      ['this week', I(isNew(MONDAY)).length],
      ['last week', I(isNew(at('2026-11-09'), MONDAY)).length],
    ],
  ],
  [
    'crash-free sessions of 4.12.0 compared with 4.11.0',
    () => by(S(is('release', 'shop@4.12.0', 'shop@4.11.0'), usual), (one) => one.release, crashFree, size),
  ],
  [
    'p95 of cold starts in 4.12.0 versus 4.11.0',
    () => by(M('cold_start', is('release', 'shop@4.12.0', 'shop@4.11.0')), (one) => one.release, p95, size),
  ],

  // Sessions.
  ['How many sessions were there yesterday?', () => n(S(since(at('2026-11-19'), at('2026-11-20'))))],
  ['sessions per day in the last 5 days', () => by(S(lastDays(5)), day, size)],
  ['sessions by release', () => by(S(usual), (one) => one.release, size)],
  ['What is the crash-free rate in the last 7 days?', () => [[crashFree(S(lastDays(7))), S(lastDays(7)).length]]],
  [
    'crash free sessions by release in the last 14 days',
    () => by(S(lastDays(14)), (one) => one.release, crashFree, size),
  ],
  ['Crash-free users this week', () => [[crashFreeUsers(S(since(MONDAY))), users(S(since(MONDAY)))]]],
  ['crash-free users by os', () => by(S(usual), (one) => one.os, crashFreeUsers, users)],
  [
    'crash rate in production this month',
    () => {
      const own = S(is('environment', 'production'), since(at('2026-11-01')))
      return [[percent(own.filter(is('status', 'crashed')).length, own.length), own.length]]
    },
  ],
  ['how many sessions crashed since Monday', () => n(S(is('status', 'crashed'), since(MONDAY)))],
  ['active users in the last 7 days', () => [[users(S(lastDays(7)))]]],
  ['active users per day this week', () => by(S(since(MONDAY)), day, users)],
  ['how many users are still on 4.11', () => [[users(S(is('release', 'shop@4.11.0'), usual))]]],
  ['How many active users on iOS?', () => [[users(S(is('os', 'iOS'), usual))]]],
  [
    'adoption of releases in the last 7 days',
    () =>
      by(
        S(lastDays(7)),
        (one) => one.release,
        (own) => percent(own.length, S(lastDays(7)).length),
        size,
      ),
  ],
  [
    'adoption of 4.12.1 this week',
    () =>
      by(
        S(is('release', 'shop@4.12.1'), since(MONDAY)),
        (one) => one.release,
        (own) => percent(own.length, S(since(MONDAY)).length),
        size,
      ),
  ],
  ['sessions by session status', () => by(S(usual), (one) => one.status, size)],
  ['Which device has the lowest crash-free rate?', () => by(S(usual), (one) => one.device, crashFree, size)],

  [
    'how many sessions had errors yesterday',
    () => n(S(not(is('status', 'healthy')), since(at('2026-11-19'), at('2026-11-20')))),
  ],
  [
    'Which devices have a crash-free rate below 95%?',
    () => by(S(usual), (one) => one.device, crashFree, size).filter(([, rate]) => Number(rate) < 95),
  ],
  [
    'ANR rate by os',
    () =>
      by(
        S(usual),
        (one) => one.os,
        () => 0,
        size,
      ),
  ],

  // Performance.
  [
    'failed transactions by name',
    () =>
      by(
        M('transaction'),
        (one) => one.name,
        (own) => own.filter(({ failed }) => failed).length,
      ),
  ],
  [
    'screens with p95 above 6000ms',
    () => by(M('screen_initial'), (one) => one.name, p95, size).filter(([, ms]) => Number(ms) > 6_000),
  ],
  [
    'transactions slower than 4s by release',
    () =>
      by(
        M('transaction', ({ ms }: SeededMeasurement) => ms > 4_000),
        (one) => one.release,
        spread,
      ),
  ],
  ['How many cold starts in the last 14 days?', () => n(M('cold_start', lastDays(14)))],
  ['cold start time', () => [spread(M('cold_start'))]],
  ['median cold start by release', () => by(M('cold_start'), (one) => one.release, p50, size)],
  [
    'p75 of app start time in 4.12',
    () => {
      const own = M('cold_start', is('release', ...R412))
      return [[p75(own), own.length]]
    },
  ],
  [
    'average duration of transactions',
    () => {
      const own = M('transaction')
      return [[own.reduce((sum, { ms }) => sum + ms, 0) / own.length, own.length]]
    },
  ],
  ['Slowest screens', () => by(M('screen_initial'), (one) => one.name, p95, p50, size)],
  [
    'what are the 2 slowest transactions?',
    () =>
      top(
        by(M('transaction'), (one) => one.name, p95, p50, size),
        2,
      ),
  ],
  ['p95 of transactions per day in the last 5 days', () => by(M('transaction', lastDays(5)), day, p95, size)],
  [
    'failure rate of transactions',
    () => {
      const own = M('transaction')
      return [[percent(own.filter(({ failed }) => failed).length, own.length), own.length]]
    },
  ],
  [
    'failure rate by transaction',
    () =>
      by(
        M('transaction'),
        (one) => one.name,
        (own) => percent(own.filter(({ failed }) => failed).length, own.length),
        size,
      ),
  ],
  ['How slow is CheckoutScreen?', () => [spread(M('screen_initial', is('name', 'CheckoutScreen')))]],
  [
    'How many transactions took longer than 4 seconds?',
    () => n(M('transaction', ({ ms }: SeededMeasurement) => ms > 4_000)),
  ],
  ['latency of POST /checkout', () => [spread(M('transaction', is('name', 'POST /checkout')))]],

  // Releases.
  ['How many releases are there?', () => [[4]]],
  ['list releases', () => [['shop@4.12.1'], ['shop@4.12.0'], ['shop@4.11.0'], ['shop@4.10.0']], ['version']],
  ['latest 2 releases', () => [['shop@4.12.1'], ['shop@4.12.0']], ['version']],
]

/** Whether two values are the same: numbers within 1.01 % where they come from sketches, else exactly. */
function same(found: Value, wanted: Value): boolean {
  if (typeof found !== 'number' || typeof wanted !== 'number') return found === wanted
  if (Number.isInteger(wanted) && Number.isInteger(found) && Math.abs(wanted) < 1_000) return found === wanted
  return Math.abs(found - wanted) <= Math.abs(wanted) * 0.0105 + 0.011
}

const sortRows = (rows: Rows): Rows =>
  rows.toSorted(
    (a, b) =>
      String(a.filter((one) => typeof one === 'string')).localeCompare(
        String(b.filter((one) => typeof one === 'string')),
      ) || Number(a.at(-1)) - Number(b.at(-1)),
  )

describe('questions', () => {
  test.each(CASES.map(([question, wanted, columns]) => ({ question, wanted, columns })))(
    '$question',
    async ({ question, wanted, columns }) => {
      const { rows, sql, columns: names } = await ask(question)
      const chosen = columns?.map((name) => names.indexOf(name))
      const found = sortRows(chosen === undefined ? rows : rows.map((row) => chosen.map((index) => row[index] ?? null)))
      const expected = sortRows(
        columns?.length === 1 && columns[0] !== 'version' ? wanted().map((row) => row.slice(1)) : wanted(),
      )
      const isSame =
        found.length === expected.length &&
        found.every(
          (row, r) =>
            row.length === expected[r]?.length && row.every((value, c) => same(value, expected[r]?.[c] ?? null)),
        )
      expect(isSame, `${sql}\nfound ${JSON.stringify(found)}\nwanted ${JSON.stringify(expected)}`).toBe(true)
    },
  )
})

/** The refusal of a question. */
async function refusalOf(question: string): Promise<{ message: string; words: string[] }> {
  const one = await translated(question)
  if (!('refusal' in one)) throw new Error(one.sql)
  const { message, code, details } = one.refusal
  expect(code).toBe('invalid')
  const header = details.headers?.['x-query-mistake']
  const places = header === undefined ? [] : Mistake.parse(JSON.parse(header)).positions
  return { message, words: places.map(({ start, end }) => question.slice(start, end)) }
}
const Mistake = z.object({ positions: z.array(z.object({ start: z.number(), end: z.number() })) })

describe('questions that are not understood', () => {
  test('name each word that was not understood, and three questions that work', async () => {
    const { message, words } = await refusalOf('How many frobnications of crashes by moon phase?')
    expect(words).toEqual(['frobnications', 'moon', 'phase'])
    expect(message).toMatch(
      /^query: I do not understand "frobnications" \(character 10\), "moon" \(character 38\), "phase" \(character 43\)\. Questions that work: "/,
    )
    const examples = [...message.slice(message.indexOf('work:')).matchAll(/"([^"]+)"/g)].map(
      ([, example]) => example ?? '',
    )
    expect(examples.length).toBe(3)
  })

  test.each([
    ['crashes in release 9.99', ['9.99']],
    ['events in the qa environment', ['qa']],
    ['what is the meaning of life', ['meaning', 'life']],
    ['crashes 42', ['42']],
    ['drop table events', ['table']],
    ["events'; delete from issues; --", ['delete']],
    ['crashes compared', ['compared']],
    ['crashes vs', []],
    ['stale issues not seen in the last 14 days', ['not']],
    ['crashes without a user', ['without']],
    ['what percentage of users run 4.12', ['percentage']],
    ['sessions by exception type', []],
    ['average number of crashes per day', []],
    ['devices with a crash-free rate below 95% this week compared with last week', []],
    ['crashes with p95 above 3s', []],
    ['releases by crashes compared with yesterday hourly', []],
    ['yesterday', []],
    ['', []],
    ['Ｈow many crashes', ['Ｈow']],
  ])('%s', async (question, wanted) => {
    const { words, message } = await refusalOf(question)
    expect(words).toEqual(wanted)
    expect(message).toContain('Questions that work: ')
  })

  test('every example works', async () => {
    const examples = new Set<string>()
    for (const question of ['crashes zzz', 'sessions zzz', 'slowest screens zzz'])
      for (const [, example] of (await refusalOf(question)).message.split('work:')[1]?.matchAll(/"([^"]+)"/g) ?? [])
        examples.add(example ?? '')
    expect(examples.size).toBe(9)
    for (const example of examples) expect((await ask(example)).rows.length, example).toBeGreaterThan(0)
  })
})

test('values of a question cannot leave their quotes', async () => {
  const { sql, rows } = await ask(`events for device "Pixel' or '1'='1"`)
  expect(sql).toContain(`device = 'Pixel'' or ''1''=''1'`)
  expect(rows).toEqual([[0]])
})

test('the explanation says how the question was understood, and the hint how to draw it', async () => {
  const understood = async (question: string) => {
    const one = await translated(question)
    if ('refusal' in one) throw one.refusal
    return [one.explanation, one.chartHint]
  }
  expect(await understood('crashes by release in production since Tuesday')).toEqual([
    'Crashes (fatal events) by release, environment production, since 2026-11-17 00:00 UTC.',
    { kind: 'bar', x: 'release', y: 'crashes' },
  ])
  expect(await understood('How many users?')).toEqual([
    'Affected users, the last 30 days (since 2026-10-21 12:00 UTC).',
    { kind: 'number', x: null, y: 'users' },
  ])
  expect(await understood('crashes per hour yesterday')).toEqual([
    'Crashes (fatal events) by hour, yesterday (2026-11-19 00:00 to 2026-11-20 00:00 UTC).',
    { kind: 'line', x: 'hour', y: 'crashes' },
  ])
  expect(await understood('top 3 unresolved issues by users')).toEqual([
    'Issues, at most 3, those with the most users first, status unresolved.',
    { kind: 'table', x: 'short_id', y: 'user_count' },
  ])
})

test('whatever words come together, a question is refused or becomes a statement that passes the guard', async () => {
  const grammar = await loadGrammar()
  const known = await readKnownValues(app.db, projectId)
  const words = [
    ...KEYWORDS,
    '4.12',
    '4.11.0',
    'Android',
    'iOS',
    'production',
    'Pixel',
    '8',
    '17',
    '"x\'y"',
    'TypeError',
    shortIdOf(3),
    ',',
    '2026-11-10',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 9 }), (chosen) => {
      const translated = translateQuestion(chosen.join(' '), known, projectId, NOW)
      if (!('refusal' in translated)) readStatement(grammar, translated.sql, projectId)
    }),
    { numRuns: cases(1_500, 100_000) },
  )
})
