import { threadCpuMs } from '../../platform/kernel/thread-task.ts'

/**
 * Limits what the custom expressions of a project cost. Text that a rule cannot search within its limits is replaced,
 * never passed on.
 */

/** An expression of a rule, as its members see it. */
export type CustomRule = { readonly path: string; readonly regex: string }

/** A rule, and the number of texts of one payload that were replaced because searching them costs too much. */
export type CostlyRule = CustomRule & { readonly texts: number }

/** Processor time of one payload: what searching 20 MB takes with usual expressions, 10,000 characters with the worst. */
const PAYLOAD_MS = 100
const PAYLOAD_CHARACTERS = 2_000_000

/** Overruns within a window after which a rule is suspended: its texts are replaced unsearched for the next window. */
const MAX_OVERRUNS = 3
const WINDOW_MS = 60_000

/** Ends a search whose limit is reached. */
export class CostLimitError extends Error {}

type Overruns = { count: number; untilMs: number; suspended: boolean }

/** Which rules of a project keep exceeding the limits of its payloads. */
export class RuleOverruns {
  readonly #now: () => number
  readonly #overruns = new Map<string, Overruns>()

  /** @param now a monotonic clock, in ms */
  constructor(now: () => number) {
    this.#now = now
  }

  isSuspended(rule: CustomRule): boolean {
    const overruns = this.#overruns.get(keyOf(rule))
    return overruns !== undefined && overruns.suspended && this.#now() < overruns.untilMs
  }

  /** A payload's limit was reached, mostly by this rule. */
  overran(rule: CustomRule): void {
    const key = keyOf(rule)
    const now = this.#now()
    const known = this.#overruns.get(key)
    const overruns =
      known !== undefined && now < known.untilMs ? known : { count: 0, untilMs: now + WINDOW_MS, suspended: false }
    overruns.count++
    if (overruns.count >= MAX_OVERRUNS && !overruns.suspended) {
      overruns.suspended = true
      overruns.untilMs = now + WINDOW_MS
    }
    // Rules change; what is left of earlier ones goes with the next window.
    if (this.#overruns.size > 100) this.#overruns.clear()
    this.#overruns.set(key, overruns)
  }
}

/** The limits of one payload. */
export class RuleBudget {
  readonly #overruns: RuleOverruns | null
  readonly #usedMs: () => number
  #leftMs = PAYLOAD_MS
  #charactersLeft = PAYLOAD_CHARACTERS
  readonly #costs = new Map<string, { readonly rule: CustomRule; ms: number }>()
  readonly #replaced = new Map<string, { readonly rule: CustomRule; texts: number }>()

  /** @param overruns of the project; null where nothing but this payload is limited. @param usedMs processor time of this thread */
  constructor(overruns: RuleOverruns | null = null, usedMs: () => number = threadCpuMs) {
    this.#overruns = overruns
    this.#usedMs = usedMs
  }

  /**
   * Searches a text of the payload.
   * @param search gets a check that throws at the limit
   * @returns its result; null when the text must be replaced
   */
  spend(rule: CustomRule, text: string, search: (check: () => void) => string): string | null {
    if (this.#overruns?.isSuspended(rule) === true) return this.#replace(rule)
    this.#charactersLeft -= text.length
    const leftMs = this.#leftMs
    if (this.#charactersLeft < 0 || leftMs <= 0) return this.#replace(costliest(this.#costs) ?? rule)
    const startedMs = this.#usedMs()
    let result: string | null
    try {
      result = search(() => {
        if (this.#usedMs() - startedMs > leftMs) throw new CostLimitError()
      })
    } catch (error) {
      if (!(error instanceof CostLimitError)) throw error
      result = null
    }
    const ms = this.#usedMs() - startedMs
    this.#leftMs -= ms
    addCost(this.#costs, rule, ms)
    if (result !== null) return result
    const blamed = costliest(this.#costs) ?? rule
    this.#overruns?.overran(blamed)
    return this.#replace(blamed)
  }

  /** The rules because of which texts were replaced. */
  costly(): CostlyRule[] {
    return [...this.#replaced.values()].map(({ rule: { path, regex }, texts }) => ({ path, regex, texts }))
  }

  #replace(blamed: CustomRule): null {
    const key = keyOf(blamed)
    const known = this.#replaced.get(key)
    if (known === undefined) this.#replaced.set(key, { rule: blamed, texts: 1 })
    else known.texts++
    return null
  }
}

const keyOf = ({ path, regex }: CustomRule): string => `${path}\n${regex}`

type Costs = Map<string, { readonly rule: CustomRule; ms: number }>

function addCost(costs: Costs, rule: CustomRule, ms: number): void {
  const key = keyOf(rule)
  const known = costs.get(key)
  if (known === undefined) costs.set(key, { rule, ms })
  else known.ms += ms
}

function costliest(costs: Costs): CustomRule | null {
  let most: { readonly rule: CustomRule; ms: number } | null = null
  for (const one of costs.values()) if (most === null || one.ms > most.ms) most = one
  return most?.rule ?? null
}
