import type { ProjectSettings } from '../../api/queries.ts'

/** Fields of when issues escalate and reach many ↔ settings of the project. Pure. */

export const RULE_FIELDS = [
  'users',
  'share',
  'deviations',
  'busy_factor',
  'least',
  'young_factor',
  'young_least',
] as const
export type RuleField = (typeof RULE_FIELDS)[number]
export type RuleDraft = Readonly<Record<RuleField, string>>

type Rules = Pick<ProjectSettings, 'escalating' | 'severity_rules'>

export const draftOf = ({ escalating, severity_rules: severity }: Rules): RuleDraft => ({
  users: String(severity.users),
  share: String(Number((severity.user_share * 100).toFixed(6))),
  deviations: String(escalating.deviations),
  busy_factor: String(escalating.busy_factor),
  least: String(escalating.least),
  young_factor: String(escalating.young_factor),
  young_least: String(escalating.young_least),
})

type Bound = { least: number; most: number; whole: boolean }
const BOUNDS: Readonly<Record<RuleField, Bound>> = {
  users: { least: 1, most: 1_000_000_000, whole: true },
  share: { least: 0.000_1, most: 100, whole: false },
  deviations: { least: 1, most: 100, whole: false },
  busy_factor: { least: 1, most: 100, whole: false },
  least: { least: 10, most: 1_000_000, whole: true },
  young_factor: { least: 1, most: 100, whole: false },
  young_least: { least: 10, most: 1_000_000, whole: true },
}

/** What is wrong with a field, as its bounds; null when nothing is. */
export function boundBroken(field: RuleField, text: string): Bound | null {
  const bound = BOUNDS[field]
  const number = Number(text)
  const reads = bound.whole ? /^\d{1,10}$/.test(text.trim()) : /^\d{1,7}(?:\.\d{1,6})?$/.test(text.trim())
  return reads && number >= bound.least && number <= bound.most ? null : bound
}

/** @param draft with nothing wrong in it */
export const rulesOf = (draft: RuleDraft): Rules => ({
  severity_rules: { users: Number(draft.users), user_share: Number(draft.share) / 100 },
  escalating: {
    deviations: Number(draft.deviations),
    busy_factor: Number(draft.busy_factor),
    least: Number(draft.least),
    young_factor: Number(draft.young_factor),
    young_least: Number(draft.young_least),
  },
})
