import type { FactOf } from '../../history/facts/kinds.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { countTowards, noProgress, type IgnoreProgress, type IgnoreUntil } from './ignoring.ts'
import { minuteText } from './issue.ts'
import type { IssueStatus } from './issue.api.ts'
import { fixedPhrase, fixState, type Fix, type FixState, type ReleasesByVersion } from './resolution.ts'
import { DAY_MS, HOUR_MS } from '../../platform/kernel/day.ts'
import { countedWord, listed } from '../../platform/kernel/value-text.ts'
import { ISSUE_RULE_BOUNDS } from '#shared/limits.ts'
import { DEFAULT_ESCALATING, type EscalatingRules } from './issue-settings.api.ts'

/**
 * The life cycle of an issue as a pure state machine (docs/issues.md). A transition returns the next state and facts. Every
 * change of the status has a sentence. If nothing changes, it returns the same state object.
 */

/** Life-cycle state of an issue. */
export type Life = {
  readonly status: IssueStatus
  /** Reason for the status as a sentence; null if the status never changed. */
  readonly reason: string | null
  readonly changedAt: Date
  /** When the issue was last opened, or a member confirmed it as open; auto-resolve counts from this or the last event. */
  readonly openSince: Date
  /** Not null exactly while resolved. */
  readonly resolved: Resolved | null
  /** Not null exactly while ignored. */
  readonly ignored: { readonly until: IgnoreUntil | null; readonly progress: IgnoreProgress } | null
  /** The newest automatic escalation. */
  readonly escalatedAt: Date | null
  /** When an hour above the limit was last noticed. */
  readonly overLimitAt: Date | null
}

export type Resolved = {
  readonly at: Date
  readonly fix: Fix
  /** Resolved by auto-resolve, not by a member. */
  readonly automatic: boolean
  readonly late: Late | null
}

/** Counts of events that arrived after the resolution and do not contradict it, and their activity entry. */
type Late = {
  readonly entryId: string
  /** Events that happened before the resolution. */
  readonly before: number
  /** Events after it, but from a release without the fix, or without a release. */
  readonly unfixed: number
  /** Events of `unfixed` that have no release. */
  readonly unnamed: number
  /** Events of `unfixed` from releases that nothing orders with the fix. */
  readonly unknown: number
  /** A release without the fix, as an example. */
  readonly release: string | null
  /** A release of `unknown`, as an example. */
  readonly unknownRelease: string | null
}

type LifeFactKind =
  | 'issue.status_changed'
  | 'issue.regressed'
  | 'issue.escalated'
  | 'issue.reopened'
  | 'issue.resolution_changed'
  | 'issue.late_events_received'

/** A fact about an issue, without its ids. */
type LifeFact = {
  readonly [K in LifeFactKind]: Omit<FactOf<K>, 'orgId' | 'projectId' | 'issueId' | 'at'>
}[LifeFactKind]

export type Transition = { readonly life: Life; readonly facts: readonly LifeFact[] }

const unchanged = (life: Life): Transition => ({ life, facts: [] })

/** Returns the state of a new issue. */
export const newIssue = (now: Date): Transition => ({
  life: {
    status: 'unresolved',
    reason: null,
    changedAt: now,
    openSince: now,
    resolved: null,
    ignored: null,
    escalatedAt: null,
    overLimitAt: null,
  },
  facts: [],
})

const OPEN: ReadonlySet<IssueStatus> = new Set(['unresolved', 'regressed', 'escalated'])

/** An automatic change of the status. */
function moved(
  life: Life,
  now: Date,
  to: IssueStatus,
  sentence: string,
  data: Readonly<Record<string, unknown>>,
  kind: Exclude<LifeFactKind, 'issue.resolution_changed' | 'issue.late_events_received'> = 'issue.status_changed',
): Transition {
  return {
    life: {
      ...life,
      status: to,
      reason: sentence,
      changedAt: now,
      openSince: OPEN.has(life.status) ? life.openSince : now,
      resolved: null,
      ignored: null,
    },
    facts: [{ kind, sentence, data: { ...data, from: life.status, to, automatic: true } }],
  }
}

/** The part of an event that matters for the life cycle. */
export type ArrivedEvent = {
  readonly eventId: string
  /** The time that is stored: the client's claim, corrected for clock drift. */
  readonly occurredAt: Date
  /** The time that is compared, if different: at most the time of receipt. */
  readonly happenedAt?: Date | undefined
  readonly release: string | null
}

const timeOf = ({ occurredAt, happenedAt = occurredAt }: ArrivedEvent): Date => happenedAt

export type ArrivedEvents = {
  /** Events of one batch; their order does not matter. */
  readonly events: readonly ArrivedEvent[]
  /** For each user new to the issue, the time of the user's first event. */
  readonly newUsers: readonly Date[]
  readonly releases: ReleasesByVersion
}

/** Events arrived: a resolved issue may regress, and an ignored one may reopen. */
export function onEvents(life: Life, arrived: ArrivedEvents, now: Date): Transition {
  if (life.resolved !== null) return onEventsOfResolved(life, life.resolved, arrived, now)
  if (life.ignored !== null) return onEventsOfIgnored(life, life.ignored, arrived, now)
  return unchanged(life)
}

function onEventsOfResolved(
  life: Life,
  resolved: Resolved,
  { events, releases }: ArrivedEvents,
  now: Date,
): Transition {
  const after = events.filter((event) => timeOf(event).getTime() > resolved.at.getTime())
  // Once per release: a batch has many events of few releases.
  const states = new Map<string | null, FixState>()
  for (const { release } of after)
    if (!states.has(release)) states.set(release, fixState(resolved.fix, resolved.at, release, releases))
  const contradicting = after.filter((event) => states.get(event.release) === 'has')
  if (contradicting.length > 0) return regressed(life, resolved, events, contradicting, now)
  if (events.length === 0) return unchanged(life)
  const named = after.filter((event) => event.release !== null)
  const unknown = named.filter((event) => states.get(event.release) === 'unknown')
  const lacking = named.filter((event) => states.get(event.release) === 'lacks')
  const late: Late = {
    entryId: resolved.late?.entryId ?? newId(),
    before: (resolved.late?.before ?? 0) + events.length - after.length,
    unfixed: (resolved.late?.unfixed ?? 0) + after.length,
    unnamed: (resolved.late?.unnamed ?? 0) + after.length - named.length,
    unknown: (resolved.late?.unknown ?? 0) + unknown.length,
    release: earliest(lacking)?.release ?? resolved.late?.release ?? null,
    unknownRelease: earliest(unknown)?.release ?? resolved.late?.unknownRelease ?? null,
  }
  const example = late.release ?? late.unknownRelease
  return {
    life: { ...life, resolved: { ...resolved, late } },
    facts: [
      {
        kind: 'issue.late_events_received',
        entryId: late.entryId,
        sentence: lateSentence(late),
        data: {
          before: late.before,
          unfixed: late.unfixed,
          unnamed: late.unnamed,
          ...(late.unknown === 0 ? {} : { unknown: late.unknown }),
          ...(example === null ? {} : { release: example }),
        },
      },
    ],
  }
}

function regressed(
  life: Life,
  resolved: Resolved,
  events: readonly ArrivedEvent[],
  contradicting: readonly ArrivedEvent[],
  now: Date,
): Transition {
  const event = earliest(contradicting)
  if (event === undefined) return unchanged(life)
  const { fix, late } = resolved
  const lateEvents = (late === null ? 0 : late.before + late.unfixed) + events.length - contradicting.length
  const from = event.release === null ? '' : ` from release ${event.release}`
  const why =
    fix.kind === 'now'
      ? ` happened after it was resolved${resolved.automatic ? ' automatically' : ''} on ${minuteText(resolved.at)}.`
      : `, ${fixedPhrase(fix)}.`
  return moved(
    life,
    now,
    'regressed',
    `Regressed: event ${event.eventId.slice(0, 8)}${from}${why}`,
    {
      event_id: event.eventId,
      occurred_at: event.occurredAt.toISOString(),
      release: event.release,
      resolved_at: resolved.at.toISOString(),
      fixed_in: fix.kind === 'release' ? fix.versions : null,
      ...(fix.kind === 'next' ? { fixed_after: fix.after } : {}),
      ...(lateEvents === 0 ? {} : { late_events: lateEvents }),
    },
    'issue.regressed',
  )
}

/** Returns the earliest event by its own time, then by id, so that the order of arrival does not matter. */
const earliest = (events: readonly ArrivedEvent[]): ArrivedEvent | undefined =>
  events.reduce<ArrivedEvent | undefined>((first, event) => {
    if (first === undefined) return event
    const byTime = event.occurredAt.getTime() - first.occurredAt.getTime()
    return byTime < 0 || (byTime === 0 && event.eventId < first.eventId) ? event : first
  }, undefined)

function lateSentence({ before, unfixed, unnamed, unknown, release, unknownRelease }: Late): string {
  const reasons = [
    ...(before === 0 ? [] : [`${countedWord(before, 'event')} happened before it was resolved`]),
    ...(unnamed === 0 ? [] : [`${countedWord(unnamed, 'event')} ${unnamed === 1 ? 'names' : 'name'} no release`]),
    ...releasesPhrase(unfixed - unnamed - unknown, release, 'does not have the fix', 'without the fix'),
    ...releasesPhrase(unknown, unknownRelease, 'is not known to have the fix', 'not known to have the fix'),
  ]
  return `Late events are counted and do not reopen this issue: ${listed(reasons)}.`
}

function releasesPhrase(events: number, release: string | null, one: string, many: string): string[] {
  if (events === 0) return []
  return events === 1
    ? [`1 event comes from ${release ?? 'a release'}, which ${one}`]
    : [`${countedWord(events, 'event')} come from releases ${many}, such as ${release ?? 'an older one'}`]
}

function onEventsOfIgnored(
  life: Life,
  ignored: NonNullable<Life['ignored']>,
  arrived: ArrivedEvents,
  now: Date,
): Transition {
  const unignored = unignore(life, now)
  if (unignored !== null) return unignored
  const { until } = ignored
  const { at } = ignored.progress
  const isSince = (time: Date): boolean => time.getTime() > at.getTime()
  const events = arrived.events.map(timeOf).filter(isSince)
  const { progress, met } = countTowards(ignored.progress, until, events, arrived.newUsers.filter(isSince))
  if (progress === ignored.progress) return unchanged(life)
  if (met === null) return { ...unchanged(life), life: { ...life, ignored: { until, progress } } }
  const word = met === 'count' ? 'event' : 'user'
  const within = until?.window === undefined ? '' : ` within ${countedWord(until.window, 'minute')}`
  return moved(
    life,
    now,
    'unresolved',
    `Reopened after ${countedWord(until?.[met] ?? 0, `more ${word}`)}${within}: it was ignored until then.`,
    { cause: `ignore_${met}`, ignored_at: at.toISOString(), [met]: until?.[met] ?? 0 },
    'issue.reopened',
  )
}

/** Reopens an issue that was ignored until a time that has passed; otherwise returns null. */
function unignore(life: Life, now: Date): Transition | null {
  const until = life.ignored?.until?.time
  if (until === undefined || new Date(until).getTime() > now.getTime()) return null
  return moved(
    life,
    now,
    'unresolved',
    `Reopened: it was ignored until ${minuteText(new Date(until))}.`,
    { cause: 'ignore_time', until },
    'issue.reopened',
  )
}

/** Events of the current hour, and its escalating limit. */
type HourCount = { readonly events: number; readonly limit: number }

/** Whether the escalating rule can change the issue; if not, the limit need not be computed. */
export function mayEscalate(life: Life, now: Date): boolean {
  if (life.status === 'escalated') return !isWithin(life.overLimitAt, now, NOTICE_MS)
  if (life.status === 'resolved') return false
  if (life.ignored !== null && life.ignored.until?.escalating !== true) return false
  return !isWithin(life.escalatedAt, now, SPIKE_PAUSE_MS)
}

/** Precision of `overLimitAt`, which saves writes: only days matter. */
const NOTICE_MS = 15 * 60_000

const isWithin = (time: Date | null, now: Date, ms: number): boolean =>
  time !== null && now.getTime() - time.getTime() < ms

/** Escalates an issue whose hour is above its limit, at most once in 24 hours. */
export function countHour(life: Life, hour: HourCount, now: Date): Transition {
  if (hour.events <= hour.limit || !mayEscalate(life, now)) return unchanged(life)
  if (life.status === 'escalated') return { ...unchanged(life), life: { ...life, overLimitAt: now } }
  const wasIgnored = life.ignored === null ? '' : ' It was ignored until then.'
  return moved(
    { ...life, escalatedAt: now, overLimitAt: now },
    now,
    'escalated',
    `Escalated: ${countedWord(hour.events, 'event')} within an hour, above the limit of ${hour.limit.toLocaleString('en-GB')}.${wasIgnored}`,
    { cause: 'spike', events: hour.events, limit: hour.limit },
    'issue.escalated',
  )
}

type TimePassed = {
  readonly now: Date
  readonly lastSeen: Date
  /** Setting of the project; 0 is off. */
  readonly autoResolveDays: number
}

/** Time passed: ignoring may end, an escalated issue may calm down, and one without events may resolve. */
export function onTime(life: Life, { now, lastSeen, autoResolveDays }: TimePassed): Transition {
  const unignored = unignore(life, now)
  if (unignored !== null) return unignored
  if (!OPEN.has(life.status)) return unchanged(life)
  const quietSince = Math.max(lastSeen.getTime(), life.openSince.getTime())
  if (autoResolveDays > 0 && now.getTime() - quietSince >= autoResolveDays * DAY_MS) {
    const step = moved(
      life,
      now,
      'resolved',
      `Resolved automatically: no event for ${countedWord(autoResolveDays, 'day')}, the last one on ${minuteText(lastSeen)}.`,
      { cause: 'auto_resolve', days: autoResolveDays, last_seen: lastSeen.toISOString() },
    )
    return { ...step, life: { ...step.life, resolved: { at: now, fix: { kind: 'now' }, automatic: true, late: null } } }
  }
  const beyond = life.overLimitAt ?? life.changedAt
  if (life.status === 'escalated' && now.getTime() - beyond.getTime() >= CALM_MS) {
    return moved(life, now, 'unresolved', 'Calmed down: no hour was above its limit for 7 days.', {
      cause: 'calm',
      over_limit_at: beyond.toISOString(),
    })
  }
  return unchanged(life)
}

/** Releases that contain the fixing commit appeared: they become the fix. */
export function commitReleased(life: Life, versions: readonly string[]): Transition {
  const { resolved } = life
  if (resolved === null || resolved.fix.kind !== 'commit' || versions.length === 0) return unchanged(life)
  const { sha } = resolved.fix
  const sentence = `Fixed in ${listed(versions)}: commit ${sha.slice(0, 12)} is part of ${versions.length === 1 ? 'it' : 'them'}.`
  return {
    // Late events were counted against the former fix, so a new entry starts.
    life: { ...life, reason: sentence, resolved: { ...resolved, fix: { kind: 'release', versions }, late: null } },
    facts: [{ kind: 'issue.resolution_changed', sentence, data: { commit: sha, fixed_in: versions } }],
  }
}

/** A change of the status by a member. */
export type Decision = {
  readonly status: IssueStatus
  /** For `resolved`. If missing, a resolved issue stays as it is, and others are resolved without a fix. */
  readonly fix?: Fix | undefined
  /** For `ignored`. Null: no condition. If missing, an ignored issue stays as it is. */
  readonly until?: IgnoreUntil | null | undefined
}

/** Whether the decision changes nothing. */
function holds(life: Life, { status, fix, until }: Decision): boolean {
  if (status !== life.status) return false
  if (fix !== undefined && life.resolved !== null) return JSON.stringify(fix) === JSON.stringify(life.resolved.fix)
  return until === undefined || JSON.stringify(until) === JSON.stringify(life.ignored?.until ?? null)
}

/**
 * A member changes the status; every status may follow every other.
 * @param sentence `Ada resolved this issue in release 2.3.1.`
 */
export function decide(life: Life, decision: Decision, sentence: string, now: Date): Transition {
  if (holds(life, decision)) return unchanged(life)
  const { status } = decision
  const next: Life = {
    ...life,
    status,
    // A comma, because "until 1 Dec 2026 on 20 Nov 2026" is hard to read.
    reason: `${sentence.replace(/\.$/, '')}${decision.until?.time === undefined ? '' : ','} on ${minuteText(now)}.`,
    changedAt: now,
    openSince: OPEN.has(status) ? now : life.openSince,
    resolved:
      status === 'resolved' ? { at: now, fix: decision.fix ?? { kind: 'now' }, automatic: false, late: null } : null,
    ignored: status === 'ignored' ? { until: decision.until ?? null, progress: noProgress(now) } : null,
    // The days below the limit start now.
    overLimitAt: status === 'escalated' ? now : life.overLimitAt,
  }
  return {
    life: next,
    facts: [{ kind: 'issue.status_changed', sentence, data: decisionData(life, next) }],
  }
}

function decisionData(before: Life, after: Life): LifeFact['data'] & { readonly from: string; readonly to: string } {
  const fix = after.resolved?.fix
  return {
    from: before.status,
    to: after.status,
    ...(fix?.kind === 'release' ? { fixed_in: fix.versions } : {}),
    ...(fix?.kind === 'next' ? { fixed_after: fix.after } : {}),
    ...(fix?.kind === 'commit' ? { commit: fix.sha } : {}),
    ...(after.ignored?.until == null ? {} : { until: after.ignored.until }),
  }
}

/** Joins `Ada resolved this issue.` and ` in release 2.3.1` to one sentence. */
export const decisionSentence = (sentence: string, how: string): string => `${sentence.replace(/\.$/, '')}${how}.`

/** The escalating limit: how many events an issue may have in an hour, computed from its history. Pure. */

/** No project can set a lower limit, so hours with fewer events are not checked. */
export const MIN_LIMIT = ISSUE_RULE_BOUNDS.hourlyLimit.min

/** An issue is new until it has this much history. */
const NEW_ISSUE_MS = 7 * DAY_MS
/** The longest history that a limit is computed from. */
export const HISTORY_MS = 14 * DAY_MS
/** Minimum time between two automatic escalations of an issue. */
const SPIKE_PAUSE_MS = DAY_MS
/** An issue stops being escalated after this time below its limit. */
export const CALM_MS = 7 * DAY_MS

/** Whole hours of an issue before the hour to check, at most {@link HISTORY_MS} back. */
export type HourHistory = {
  /** Start of the hour to check. */
  readonly hour: Date
  /** When the issue was first seen. */
  readonly firstSeen: Date
  /** Number of hours with events, and statistics of their event counts. */
  readonly busyHours: number
  readonly sum: number
  readonly sumOfSquares: number
  readonly largest: number
  readonly busyMedian: number
}

/**
 * Returns the maximum of events in the hour. With the default rules: after a week of history, the largest of mean + 5
 * standard deviations over all hours, 5 × the median of the busy hours, and 10; before, 10 × the largest hour so far, at
 * least 50.
 */
export function hourlyLimit(history: HourHistory, rules: EscalatingRules = DEFAULT_ESCALATING): number {
  const ageMs = history.hour.getTime() - history.firstSeen.getTime()
  if (ageMs < NEW_ISSUE_MS)
    return bounded(Math.max(rules.new_issue_min_limit, rules.new_issue_factor * history.largest))
  const hours = Math.max(1, history.busyHours, Math.ceil(Math.min(ageMs, HISTORY_MS) / HOUR_MS))
  const mean = history.sum / hours
  const deviation = Math.sqrt(Math.max(0, history.sumOfSquares / hours - mean * mean))
  return bounded(Math.max(mean + rules.deviations * deviation, rules.busy_factor * history.busyMedian, rules.min_limit))
}

/** Event counts are whole numbers, and the column has 32 bits. */
const bounded = (limit: number): number => Math.min(2_000_000_000, Math.floor(limit))

/** Returns the start of the hour that contains the time. */
export const floorToHour = (time: Date): Date => new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS)
