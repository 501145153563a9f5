import { invalid } from '../kernel/errors.ts'
import { patternProblem } from '../kernel/linear-pattern.ts'
import type { ScrubRule } from '../protocol/scrub-rules.api.ts'

/**
 * Whether every expression can be used. Not part of the schema: the engine that knows is nothing for a browser, which
 * shares the schema's types.
 * @throws AppError invalid
 */
export function checkScrubRules(rules: readonly ScrubRule[] | undefined): void {
  for (const [index, { regex }] of (rules ?? []).entries()) {
    const problem = regex === null ? null : patternProblem(regex)
    if (problem !== null) throw invalid(`scrub_rules.${index}.regex cannot be used: ${problem}.`)
  }
}
