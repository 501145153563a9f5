import type { SecurityKind } from '#shared/alert-rules.ts'
import type { StoredEvent } from '../../events/store/event.ts'
import type { GroupingPart } from '../grouping/grouping.api.ts'
import type { EventSeverity } from '../rules/severity.ts'
import type { Fact } from '../search/facts.ts'
import type { LazyMatches } from '../ownership/ownership.ts'
import type { Device } from '../../events/protocol/device.ts'
import type { EventLevel } from '../../events/protocol/event.api.ts'

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
