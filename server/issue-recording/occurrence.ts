import type { StoredEvent } from '../events/event.ts'
import type { GroupingPart } from '../grouping/grouping.api.ts'
import type { IssueImpact } from '../issue-rules/impact.ts'
import type { Life } from '../issue-rules/life-cycle.ts'
import type { EventSeverity } from '../issue-rules/severity.ts'
import type { Fact } from '../issue-search/facts.ts'
import type { OwnerQuestion } from '../ownership/ownership.ts'
import type { EventLevel } from '../protocol/event.api.ts'

/** One event on its way into an issue: everything but which issue. */
export type Occurrence = {
  readonly orgId: string
  readonly event: Omit<StoredEvent, 'issueId'>
  readonly fingerprint: { readonly version: number; readonly hash: Buffer; readonly parts: readonly GroupingPart[] }
  /** Under the grouping version before, while the project transitions from that one; null else. */
  readonly formerHash: Buffer | null
  /** When it says it happened, where that is too long ago to be filed under; null else. */
  readonly claimedAt: Date | null
  readonly title: string
  readonly culprit: string
  readonly errorType: string | null
  readonly errorValue: string | null
  readonly level: EventLevel
  readonly platform: string
  readonly isUnhandled: boolean
  readonly eventSeverity: EventSeverity
  /** So many users of a day make a crash critical; a setting of the project. */
  readonly manyUsers: number
  /** Who owns it, should it make a new issue; null without ownership rules. */
  readonly owner: OwnerQuestion | null
  /** Texts whose words the issue is found by. */
  readonly indexedTexts: readonly (string | null)[]
  /** Keys and values it is found by. */
  readonly facts: readonly Fact[]
}

/** Most events of an hour before an issue escalates, and the hour they were worked out for. */
export type HourlyLimit = { readonly hour: Date; readonly events: number }

/** An issue as this batch found or made it, and what the batch adds to it. */
export type Group = {
  readonly key: string
  readonly projectId: string
  readonly occurrences: Occurrence[]
  issueId: string
  /** Where its events are filed; another issue than they count for where that one was merged into it. */
  sourceId: string
  /** Issues were merged into the one it counts for. */
  isMerged: boolean
  life: Life
  impact: IssueImpact
  limit: HourlyLimit | null
  isNew: boolean
}
