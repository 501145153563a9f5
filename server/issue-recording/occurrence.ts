import type { StoredEvent } from '../events/event.ts'
import type { GroupingPart } from '../grouping/grouping.api.ts'
import type { IssueImpact } from '../issue-rules/impact.ts'
import type { Life } from '../issue-rules/life-cycle.ts'
import type { EventSeverity } from '../issue-rules/severity.ts'
import type { Fact } from '../issue-search/facts.ts'
import type { LazyMatches } from '../ownership/ownership.ts'
import type { EventLevel } from '../protocol/event.api.ts'

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
  /** The number of users on a day that makes a crash critical; a setting of the project. */
  readonly manyUsers: number
  /** Matching ownership rules, computed only for a new issue; null if the project has no rules. */
  readonly ownershipMatches: LazyMatches | null
  /** Texts for the search index. */
  readonly indexedTexts: readonly (string | null)[]
  /** Keys and values for the search index. */
  readonly facts: readonly Fact[]
}

/** The maximum number of events in this hour; an issue with more of them escalates. */
export type HourlyLimit = { readonly hour: Date; readonly events: number }

/** An issue that this batch found or created, with the events that the batch adds to it. */
export type Group = {
  readonly key: string
  readonly projectId: string
  readonly occurrences: Occurrence[]
  issueId: string
  /** The issue under which its events are stored; differs from `issueId` when that is its merge target. */
  sourceId: string
  /** Whether `issueId` is a merge target. */
  isMerged: boolean
  life: Life
  impact: IssueImpact
  limit: HourlyLimit | null
  isNew: boolean
}
