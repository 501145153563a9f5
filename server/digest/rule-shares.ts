import { RuleShare } from '../protocol/rule-budget.ts'

/**
 * What the custom expressions of a project and of an organisation may use of a digest thread: ms of processor time per
 * second, and what may be saved up. Usual expressions take 0.1 µs a character, so that a project's share is a million
 * characters per second.
 */
const PROJECT = { msPerSecond: 100, maxMs: 3_000 }
const ORGANISATION = { msPerSecond: 200, maxMs: 5_000 }

const MAX_SHARES = 10_000

export type RuleShares = { of(orgId: string, projectId: string): RuleShare }

/** The shares of a digest thread. @param now a monotonic clock, in ms */
export function createRuleShares(now: () => number): RuleShares {
  const ofOrgs = new Map<string, RuleShare>()
  const ofProjects = new Map<string, RuleShare>()
  return {
    of(orgId, projectId) {
      const known = ofProjects.get(projectId)
      if (known !== undefined) return known
      // Begins again for everybody, which costs each at most what it may save up.
      if (ofProjects.size >= MAX_SHARES) {
        ofProjects.clear()
        ofOrgs.clear()
      }
      const ofOrg = ofOrgs.get(orgId) ?? new RuleShare(now, ORGANISATION.msPerSecond, ORGANISATION.maxMs)
      ofOrgs.set(orgId, ofOrg)
      const share = new RuleShare(now, PROJECT.msPerSecond, PROJECT.maxMs, ofOrg)
      ofProjects.set(projectId, share)
      return share
    },
  }
}
