import { invalid } from '../../platform/kernel/errors.ts'
import { type Ask, inThread } from '../../platform/kernel/thread-task.ts'
import type { ScrubRule } from '../../events/protocol/scrub-rules.api.ts'
import type { ScrubAnswer, ScrubRequest } from './scrub-thread.ts'

const CPU_LIMIT_MS = 5_000

/** Uses a thread for scrubbing rules. @throws AppError rate_limited, or invalid at its limit */
export const inScrubThread = <T>(orgId: string, use: (ask: Ask<ScrubRequest, ScrubAnswer>) => Promise<T>): Promise<T> =>
  inThread(
    orgId,
    new URL('./scrub-thread.ts', import.meta.url),
    {
      cpuLimitMs: CPU_LIMIT_MS,
      onLimit: () =>
        invalid(
          `Trying these scrub_rules took more than ${CPU_LIMIT_MS / 1000} seconds of processor time. Simplify their expressions, or add fewer at once.`,
        ),
    },
    use,
  )

/** States of all expressions of a project: compiling them pauses digestion for 50 ms, and they take about 0.5 MB. */
const MAX_STATES = 3_000

/**
 * Checks the expressions of scrubbing rules: their syntax, the size of their automata, and what they cost in a trial.
 * Saved expressions are not tried again, so that a slow moment of the machine blocks no other change.
 * @throws AppError invalid for expressions that cannot be used, rate_limited
 */
export async function checkScrubRules(
  orgId: string,
  rules: readonly ScrubRule[] | undefined,
  saved: readonly ScrubRule[],
): Promise<void> {
  const expressions = expressionsToCheck(rules, saved)
  if (expressions.length > 0) await inScrubThread(orgId, (ask) => checkExpressions(ask, expressions))
}

type ExpressionToCheck = { readonly index: number; readonly regex: string; readonly isNew: boolean }

/** All expressions, each once; none when all are saved already. */
export function expressionsToCheck(
  rules: readonly ScrubRule[] | undefined,
  saved: readonly ScrubRule[],
): readonly ExpressionToCheck[] {
  const known = new Set(saved.map(({ regex }) => regex))
  const found = new Map<string, ExpressionToCheck>()
  for (const [index, { regex }] of (rules ?? []).entries())
    if (regex !== null && !found.has(regex)) found.set(regex, { index, regex, isNew: !known.has(regex) })
  const all = [...found.values()]
  return all.some(({ isNew }) => isNew) ? all : []
}

/** @throws AppError invalid */
export async function checkExpressions(
  ask: Ask<ScrubRequest, ScrubAnswer>,
  expressions: readonly ExpressionToCheck[],
): Promise<void> {
  let sum = 0
  let largest = { index: 0, states: 0 }
  for (const { index, regex, isNew } of expressions) {
    const { problem, states } = await ask({ expression: regex, isNew })
    if (problem !== null) throw invalid(`scrub_rules.${index}.regex cannot be used: ${problem}.`)
    sum += states
    if (states > largest.states) largest = { index, states }
  }
  if (sum > MAX_STATES)
    throw invalid(
      `scrub_rules: their expressions have ${sum} states together, at most ${MAX_STATES} are allowed. Simplify the largest, scrub_rules.${largest.index}.regex: ${largest.states} states.`,
    )
}
