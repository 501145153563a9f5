import { invalid } from '../kernel/errors.ts'
import { patternProblem } from '../kernel/linear-pattern.ts'
import type { ScrubRule } from '../protocol/scrub-rules.api.ts'

/**
 * Checks the regular expressions of scrubbing rules. It is not part of the schema, because browsers share the schema and
 * do not have the engine.
 * @throws AppError invalid for an expression that cannot be used
 */
export function checkScrubRules(rules: readonly ScrubRule[] | undefined): void {
  for (const [index, { regex }] of (rules ?? []).entries()) {
    const problem = regex === null ? null : patternProblem(regex)
    if (problem !== null) throw invalid(`scrub_rules.${index}.regex cannot be used: ${problem}.`)
  }
}
