import type { TriggerType } from '#shared/alert-rules.ts'
import type { Conditions } from '../rules/rule.api.ts'
import type { App } from '../../platform/context/app.ts'

/** A rule whose condition is measured, not recorded as a fact. */
export type RateRule = {
  readonly id: string
  readonly orgId: string
  readonly projectId: string
  readonly trigger: TriggerType
  /** Complete: with the defaults of the trigger. */
  readonly conditions: Conditions
}

/** A rule's measurement of one subject at one moment. */
export type Measured = {
  /** An issue, a journey, or '' for the project as a whole. */
  readonly subject: string
  readonly issueId?: string
  /** In the unit of the threshold; null without data, which never fires. */
  readonly value: number | null
  readonly holds: boolean
  /** The title of the alert, such as `Cold start P95 over 5 s`. */
  readonly title: string
  /** A sentence with the numbers that made it hold. */
  readonly explanation: string
}

/** A rule's measurement at a moment of the past. */
export type HistoryPoint = {
  readonly at: Date
  readonly subject: string
  readonly issueId?: string
  readonly value: number | null
  readonly holds: boolean
}

/** Measures the conditions of one trigger. */
export type Evaluator = {
  /**
   * For many rules at once: the cost grows with projects and distinct questions, not with rules or events.
   * @returns by the id of the rule; subjects that do not hold may be missing, unless they held before (`open`)
   */
  measure(app: App, rules: readonly RateRule[], at: Date): Promise<ReadonlyMap<string, readonly Measured[]>>
  /** For the dry run, oldest first. */
  history(app: App, rule: RateRule, from: Date, to: Date): Promise<readonly HistoryPoint[]>
}
