import type { OwnerCandidate } from './ownership.ts'

/** The first candidate that can own something now: a team's word, or somebody who is a member still. Pure. */
export const ownerAmong = (
  candidates: readonly OwnerCandidate[],
  members: ReadonlyMap<string, unknown>,
): OwnerCandidate | null =>
  candidates.find(({ rule }) => rule.team !== null || (rule.user_id !== null && members.has(rule.user_id))) ?? null
