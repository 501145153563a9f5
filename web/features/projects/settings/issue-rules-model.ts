import { ISSUE_RULE_BOUNDS } from '#shared/limits.ts'
import type { ProjectSettings } from '../../../api/queries.ts'

/** Converts between the form of severity and escalation and the settings of the project. Pure. */

export const RULE_FIELDS = [
  'users',
  'share',
  'deviations',
  'busy_factor',
  'min_limit',
  'new_issue_factor',
  'new_issue_min_limit',
] as const
export type RuleField = (typeof RULE_FIELDS)[number]
export type RuleDraft = Readonly<Record<RuleField, string>>

type Rules = Pick<ProjectSettings, 'escalating' | 'severity_rules'>

export const toIssueRuleDraft = ({ escalating, severity_rules: severity }: Rules): RuleDraft => ({
  users: String(severity.users),
  share: String(Number((severity.user_share * 100).toFixed(6))),
  deviations: String(escalating.deviations),
  busy_factor: String(escalating.busy_factor),
  min_limit: String(escalating.min_limit),
  new_issue_factor: String(escalating.new_issue_factor),
  new_issue_min_limit: String(escalating.new_issue_min_limit),
})

type Bounds = { min: number; max: number; isWhole: boolean }
const { factor, hourlyLimit, users, userShare } = ISSUE_RULE_BOUNDS
const BOUNDS: Readonly<Record<RuleField, Bounds>> = {
  users: { ...users, isWhole: true },
  share: { min: userShare.min * 100, max: userShare.max * 100, isWhole: false },
  deviations: { ...factor, isWhole: false },
  busy_factor: { ...factor, isWhole: false },
  min_limit: { ...hourlyLimit, isWhole: true },
  new_issue_factor: { ...factor, isWhole: false },
  new_issue_min_limit: { ...hourlyLimit, isWhole: true },
}

/** Returns the bounds of a field if its text breaks them, or null if the text is valid. */
export function brokenBounds(field: RuleField, text: string): Bounds | null {
  const bounds = BOUNDS[field]
  const number = Number(text)
  const isNumber = bounds.isWhole ? /^\d{1,10}$/.test(text.trim()) : /^\d{1,7}(?:\.\d{1,6})?$/.test(text.trim())
  return isNumber && number >= bounds.min && number <= bounds.max ? null : bounds
}

/** @param draft of valid texts */
export const toIssueRules = (draft: RuleDraft): Rules => ({
  severity_rules: { users: Number(draft.users), user_share: Number(draft.share) / 100 },
  escalating: {
    deviations: Number(draft.deviations),
    busy_factor: Number(draft.busy_factor),
    min_limit: Number(draft.min_limit),
    new_issue_factor: Number(draft.new_issue_factor),
    new_issue_min_limit: Number(draft.new_issue_min_limit),
  },
})
