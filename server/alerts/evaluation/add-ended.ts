import type { OpenSubject } from '../rules/fired.queries.ts'
import type { Measured } from './evaluator.ts'

/**
 * Adds the subjects of open alerts that a measurement no longer has, such as an issue that was deleted: they do not hold.
 * @param measured by the id of the rule
 */
export function addEnded(
  measured: Map<string, Measured[]>,
  open: readonly Pick<OpenSubject, 'ruleId' | 'subject'>[],
): Map<string, Measured[]> {
  for (const { ruleId, subject } of open) {
    const ofRule = measured.get(ruleId) ?? []
    measured.set(ruleId, ofRule)
    if (!ofRule.some((one) => one.subject === subject))
      ofRule.push({ subject, value: 0, holds: false, title: '', explanation: '' })
  }
  return measured
}
