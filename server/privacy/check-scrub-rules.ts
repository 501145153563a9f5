import { invalid } from '../kernel/errors.ts'
import { type Ask, inThread } from '../kernel/thread-task.ts'
import type { ScrubRule } from '../protocol/scrub-rules.api.ts'
import type { ScrubAnswer, ScrubRequest } from './scrub-thread.ts'

const TIME_LIMIT_MS = 10_000

/** Uses a thread for scrubbing rules. @throws AppError rate_limited, or invalid at its time limit */
export const inScrubThread = <T>(
  orgId: string,
  use: (ask: Ask<ScrubRequest, ScrubAnswer>) => Promise<T>,
  timeLimitMs = TIME_LIMIT_MS,
): Promise<T> =>
  inThread(
    orgId,
    new URL('./scrub-thread.ts', import.meta.url),
    {
      timeLimitMs,
      onLimit: () =>
        invalid(
          `Trying these scrub_rules took longer than ${timeLimitMs / 1000} seconds. Simplify their expressions, or add fewer at once.`,
        ),
    },
    use,
  )

/**
 * Checks the expressions of scrubbing rules: their syntax, the size of their automaton, and what they cost in a trial.
 * Those that are saved already are not tried again, so that a slow moment of the machine blocks no other change.
 * @throws AppError invalid for an expression that cannot be used, rate_limited
 */
export async function checkScrubRules(
  orgId: string,
  rules: readonly ScrubRule[] | undefined,
  saved: readonly ScrubRule[],
): Promise<void> {
  const added = newExpressions(rules, saved)
  if (added.length > 0) await inScrubThread(orgId, (ask) => checkExpressions(ask, added))
}

export type NewExpression = { readonly index: number; readonly regex: string }

/** The expressions to check, each once. */
export function newExpressions(
  rules: readonly ScrubRule[] | undefined,
  saved: readonly ScrubRule[],
): readonly NewExpression[] {
  const known = new Set(saved.map(({ regex }) => regex))
  return (rules ?? []).flatMap(({ regex }, index) => {
    if (regex === null || known.has(regex)) return []
    known.add(regex)
    return [{ index, regex }]
  })
}

/** @throws AppError invalid */
export async function checkExpressions(
  ask: Ask<ScrubRequest, ScrubAnswer>,
  expressions: readonly NewExpression[],
): Promise<void> {
  for (const { index, regex } of expressions) {
    const { problem } = await ask({ expression: regex })
    if (problem !== null) throw invalid(`scrub_rules.${index}.regex cannot be used: ${problem}.`)
  }
}
