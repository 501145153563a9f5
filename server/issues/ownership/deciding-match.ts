import type { RuleMatch } from './ownership.ts'

/** Returns the first match whose rule names a team or a current member. Pure. */
export const decidingMatch = (matches: readonly RuleMatch[], members: ReadonlyMap<string, unknown>): RuleMatch | null =>
  matches.find(({ rule }) => rule.team !== null || (rule.user_id !== null && members.has(rule.user_id))) ?? null
