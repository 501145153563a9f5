import { RuleOverruns } from '../../events/protocol/rule-budget.ts'

const MAX_PROJECTS = 10_000

/** Finds the overruns of a project's rules, in a digest thread. @param now a monotonic clock, in ms */
export function createRuleOverruns(now: () => number): (projectId: string) => RuleOverruns {
  const ofProjects = new Map<string, RuleOverruns>()
  return (projectId) => {
    const known = ofProjects.get(projectId)
    if (known !== undefined) return known
    // Begins again for all, which costs each project three slow requests.
    if (ofProjects.size >= MAX_PROJECTS) ofProjects.clear()
    const overruns = new RuleOverruns(now)
    ofProjects.set(projectId, overruns)
    return overruns
  }
}
