import { type SecurityKind, SECURITY_KINDS } from '#shared/alert-rules.ts'
import type { StoredEvent } from '../../events/store/event.ts'
import type { GroupingPart } from '../grouping/grouping.api.ts'
import { type EventSeverity, type IssueImpact, newImpact, reach } from '../rules/impact.ts'
import type { Fact } from '../search/facts.ts'
import type { LazyMatches } from '../ownership/ownership.ts'
import type { Device } from '../../events/protocol/device.ts'
import type { EventLevel } from '../../events/protocol/event.api.ts'
import { z } from 'zod'
import { utcDay } from '../../platform/kernel/day.ts'

/** How many issues the events of a project may create; 0 for no limit. */
export type NewIssueBudget = { readonly perHour: number; readonly perDay: number }

/** One event to record: everything except its issue. */
export type Occurrence = {
  readonly orgId: string
  readonly event: Omit<StoredEvent, 'issueId'>
  readonly fingerprint: { readonly version: number; readonly hash: Buffer; readonly parts: readonly GroupingPart[] }
  /** Under the previous grouping version, while the project changes its version; else null. */
  readonly formerHash: Buffer | null
  /** The time of occurrence that the client sent, when it is too old for `occurredAt`; else null. */
  readonly claimedAt: Date | null
  readonly title: string
  readonly culprit: string
  readonly errorType: string | null
  readonly errorValue: string | null
  readonly level: EventLevel
  readonly platform: string
  readonly isUnhandled: boolean
  readonly eventSeverity: EventSeverity
  /** Whether the app hung, and where it was. */
  readonly anr: 'foreground' | 'background' | null
  readonly device: Device
  /** Whether the app named the device itself; a browser's is in its user agent. */
  readonly namesDevice: boolean
  /** The number of users on a day that makes a crash critical; a setting of the project. */
  readonly manyUsers: number
  /** A setting of the project. */
  readonly newIssueBudget: NewIssueBudget
  /** Matching ownership rules, computed only for a new issue; null if the project has no rules. */
  readonly ownershipMatches: LazyMatches | null
  /** The kind of attack on the app or its device that the event reports; null for most events. */
  readonly securityKind: SecurityKind | null
  /** Journeys of the project that it names as an unhandled error. */
  readonly journeys: readonly string[]
  /** The event's trace, if its project's share has room for it. */
  readonly trace: { readonly traceId: string; readonly spanId: string | null } | null
  /** Texts for the search index. */
  readonly indexedTexts: readonly (string | null)[]
  /** Keys and values for the search index. */
  readonly facts: readonly Fact[]
}

/** Events of a batch with the same fingerprint. */
export type SameFingerprint = {
  /** Project id and base64 of the hash. */
  readonly key: string
  readonly projectId: string
  readonly orgId: string
  readonly first: Occurrence
  readonly occurrences: Occurrence[]
}

/** Events of a batch, and the group that counts them. */
export type GroupedEvents = SameFingerprint & KnownGroup & { readonly isNew: boolean }

/** A group, and the issue that shows it. */
export type KnownGroup = {
  readonly groupId: string
  readonly issueId: string
  /** Whether the issue shows other groups too. */
  readonly isMerged: boolean
}

/** By time of occurrence. */
export const newestOccurrence = (occurrences: readonly Occurrence[]): Occurrence =>
  occurrences.reduce((newest, one) => (one.event.occurredAt >= newest.event.occurredAt ? one : newest))

/** By time of occurrence. */
export const oldestOccurrence = (occurrences: readonly Occurrence[]): Occurrence =>
  occurrences.reduce((oldest, one) => (one.event.occurredAt < oldest.event.occurredAt ? one : oldest))

/** Sums that recorded events add to a group until the next fold: small, in a form that JSON keeps. Times are in ms. */

const CountedEvent = z.tuple([
  /** Event id. */
  z.string(),
  /** The time that is stored. */
  z.number(),
  /** The time that the life cycle compares, see {@link happenedAt}. */
  z.number(),
  /** Release. */
  z.string().nullable(),
  /** Hash of the user. */
  z.number().nullable(),
  /** Whether it is fatal or unhandled. */
  z.boolean(),
])
type CountedEvent = z.output<typeof CountedEvent>

/** The places in a counted event: loops over many read them by index, which takes less time than taking a tuple apart. */
export const OCCURRED_AT = 1
export const HAPPENED_AT = 2
export const USER_HASH = 4
export const IS_FATAL = 5

export const GroupSums = z.strictObject({
  groupId: z.string(),
  projectId: z.string(),
  orgId: z.string(),
  events: z.array(CountedEvent),
  isUnhandled: z.boolean(),
  manyUsers: z.number(),
  /** The newest event names the group. */
  newest: z.strictObject({
    eventId: z.string(),
    at: z.number(),
    release: z.string().nullable(),
    title: z.string(),
    culprit: z.string(),
    errorType: z.string().nullable(),
    errorValue: z.string().nullable(),
    level: z.string(),
  }),
  oldest: z.strictObject({ at: z.number(), release: z.string().nullable() }),
  /** The most severe event; the oldest of equal ones. */
  worst: z.strictObject({
    eventId: z.string(),
    at: z.number(),
    severity: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]),
  }),
  /** The first security event of each kind. */
  security: z
    .array(z.strictObject({ kind: z.enum(SECURITY_KINDS), eventId: z.string(), environment: z.string() }))
    .optional(),
})
export type GroupSums = Omit<z.output<typeof GroupSums>, 'events'> & { readonly events: CountedEvent[] }

type SecurityOccurrence = NonNullable<GroupSums['security']>[number]

/** @param created the issue and group that this transaction inserted, with these counts: see {@link firstCounts} */
export type FoldedSums = GroupSums & { readonly created?: { readonly at: Date; readonly impact: IssueImpact } }

/** Returns the sums that the events of a batch add to their group. */
export function sumGroupedEvents({ groupId, projectId, orgId, occurrences, first }: GroupedEvents): GroupSums {
  let [newest, oldest, worst] = [first, first, first]
  let isUnhandled = false
  const security = new Map<SecurityKind, SecurityOccurrence>()
  const events = occurrences.map((one): CountedEvent => {
    const { event } = one
    if (event.occurredAt >= newest.event.occurredAt) newest = one
    if (event.occurredAt < oldest.event.occurredAt) oldest = one
    if (isWorse(worstOf(one), worstOf(worst))) worst = one
    isUnhandled ||= one.isUnhandled
    if (one.securityKind !== null && !security.has(one.securityKind))
      security.set(one.securityKind, { kind: one.securityKind, eventId: event.eventId, environment: event.environment })
    const isFatal = one.isUnhandled || one.level === 'fatal'
    return [event.eventId, event.occurredAt.getTime(), happenedAt(one), event.release, event.userHash, isFatal]
  })
  return {
    groupId,
    projectId,
    orgId,
    events,
    isUnhandled,
    manyUsers: first.manyUsers,
    newest: {
      eventId: newest.event.eventId,
      at: newest.event.occurredAt.getTime(),
      release: newest.event.release,
      title: newest.title,
      culprit: newest.culprit,
      errorType: newest.errorType,
      errorValue: newest.errorValue,
      level: newest.level,
    },
    oldest: { at: oldest.event.occurredAt.getTime(), release: oldest.event.release },
    worst: worstOf(worst),
    ...(security.size === 0 ? {} : { security: [...security.values()] }),
  }
}

/** The users and the impact of a new group, which is inserted with them. */
export function firstCounts(
  { events, worst, manyUsers }: GroupSums,
  now: Date,
): { readonly users: number; readonly impact: IssueImpact } {
  const startOfToday = Date.parse(utcDay(now))
  const users = new Set<number>()
  const usersToday = new Set<number>()
  for (const event of events) {
    const userHash = event[USER_HASH]
    if (userHash === null) continue
    users.add(userHash)
    // A client's clock may be slightly ahead at midnight.
    if (event[OCCURRED_AT] >= startOfToday) usersToday.add(userHash)
  }
  const reached = { eventSeverity: worst.severity, users: usersToday.size, manyUsers }
  return { users: users.size, impact: reach(newImpact(0), reached, 'unresolved', now) }
}

const worstOf = ({ event, eventSeverity }: Occurrence): GroupSums['worst'] => ({
  eventId: event.eventId,
  at: event.occurredAt.getTime(),
  severity: eventSeverity,
})

/** Whether one event is more severe than the other, or equally severe and older. */
export const isWorse = (one: GroupSums['worst'], other: GroupSums['worst']): boolean =>
  one.severity > other.severity || (one.severity === other.severity && one.at < other.at)

/** No event happened after it was received. An event that an app kept for months happened that long ago. */
function happenedAt({ event, claimedAt }: Occurrence): number {
  const claimed = claimedAt ?? event.occurredAt
  return Math.min(claimed.getTime(), event.receivedAt.getTime())
}

/** Adds up by group. The arguments are not changed. */
export function addUp<Sums extends GroupSums>(...parts: readonly Iterable<Sums>[]): Map<string, Sums> {
  const byGroup = new Map<string, Sums>()
  for (const part of parts)
    for (const sums of part) {
      const before = byGroup.get(sums.groupId)
      byGroup.set(sums.groupId, before === undefined ? sums : both(before, sums))
    }
  return byGroup
}

/** @param b the later part */
const both = <Sums extends GroupSums>(a: Sums, b: Sums): Sums => ({
  ...a,
  events: [...a.events, ...b.events],
  isUnhandled: a.isUnhandled || b.isUnhandled,
  manyUsers: b.manyUsers,
  newest: b.newest.at >= a.newest.at ? b.newest : a.newest,
  oldest: b.oldest.at < a.oldest.at ? b.oldest : a.oldest,
  worst: isWorse(b.worst, a.worst) ? b.worst : a.worst,
  ...bothSecurity(a.security, b.security),
})

function bothSecurity(
  a: readonly SecurityOccurrence[] = [],
  b: readonly SecurityOccurrence[] = [],
): Pick<GroupSums, 'security'> {
  if (a.length === 0 && b.length === 0) return {}
  return { security: [...a, ...b.filter(({ kind }) => !a.some((one) => one.kind === kind))] }
}
