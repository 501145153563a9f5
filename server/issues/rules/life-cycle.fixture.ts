import fc from 'fast-check'
import type { IgnoreUntil } from './ignoring.ts'
import type { IssueStatus } from './issue.api.ts'

/** Random histories of an issue, for tests of the state machine and of the API. */

/** Realistic and unusual release names; index 0 is an event without a release. */
export const RELEASES = [
  null,
  '1.0',
  'v2',
  '2.3.0',
  '2.3.1-rc.1',
  '2.3.1',
  '2.4.0',
  '3.0.0',
  '3.0.1',
  '3.0.2',
  '2024.11.3-beta.2+77',
  '2024.11.3+78',
  'com.acme@1.2.3+45',
  'com.acme@1.2.3+46',
  'com.acme@2.3.2',
  '9f2c1d07',
  'ab34ff01',
  '🚀 launch',
  'x'.repeat(200),
] as const

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** An event; `release` is an index of {@link RELEASES}. */
export type TestEvent = { readonly agoMs: number; readonly release: number; readonly user: number }

export type HistoryStep =
  | { readonly kind: 'events'; readonly events: readonly TestEvent[] }
  /** Many events within the current hour. */
  | { readonly kind: 'burst'; readonly events: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'time' }
  | { readonly kind: 'status'; readonly status: IssueStatus }
  | { readonly kind: 'fix'; readonly fix: 'now' | 'next' | 'commit' | readonly number[] }
  | { readonly kind: 'ignore'; readonly until: Omit<IgnoreUntil, 'time'> & { readonly inMs?: number } }
  | { readonly kind: 'released' }

const release = fc.nat({ max: RELEASES.length - 1 })
/** Mostly now, often before the last change of status. */
const ago = fc.constantFrom(0, 0, 0, 30_000, 10 * MINUTE_MS, 2 * HOUR_MS, DAY_MS, 9 * DAY_MS)
const event = fc.record({ agoMs: ago, release, user: fc.nat({ max: 9 }) })

const step: fc.Arbitrary<HistoryStep> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(event, { minLength: 1, maxLength: 4 }).map((events) => ({ kind: 'events' as const, events })),
  },
  { weight: 3, arbitrary: fc.constantFrom(12, 60, 150).map((events) => ({ kind: 'burst' as const, events })) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(MINUTE_MS, 20 * MINUTE_MS, 2 * HOUR_MS, 13 * HOUR_MS, DAY_MS, 3 * DAY_MS, 8 * DAY_MS, 15 * DAY_MS)
      .map((ms) => ({ kind: 'wait' as const, ms })),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'time' as const }) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<IssueStatus>('unresolved', 'resolved', 'ignored', 'regressed', 'escalated')
      .map((status) => ({ kind: 'status' as const, status })),
  },
  {
    weight: 3,
    arbitrary: fc
      .oneof(
        fc.constantFrom('now' as const, 'next' as const, 'commit' as const),
        fc.uniqueArray(fc.integer({ min: 1, max: RELEASES.length - 1 }), { minLength: 1, maxLength: 3 }),
      )
      .map((fix) => ({ kind: 'fix' as const, fix })),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom<Extract<HistoryStep, { kind: 'ignore' }>['until']>(
        {},
        { inMs: 2 * HOUR_MS },
        { count: 3 },
        { count: 30, window: 60 },
        { users: 2 },
        { users: 3, window: 30 },
        { escalating: true },
        { count: 500, escalating: true, inMs: 3 * DAY_MS },
      )
      .map((until) => ({ kind: 'ignore' as const, until })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'released' as const }) },
)

export const history = (maxLength: number): fc.Arbitrary<HistoryStep[]> => fc.array(step, { minLength: 5, maxLength })

/** The automatic transitions of docs/issues.md; a member may do anything. */
export const AUTOMATIC: Readonly<Record<IssueStatus, readonly IssueStatus[]>> = {
  unresolved: ['escalated', 'resolved'],
  regressed: ['escalated', 'resolved'],
  escalated: ['unresolved', 'resolved'],
  resolved: ['regressed'],
  ignored: ['unresolved', 'escalated'],
}
