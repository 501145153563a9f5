import { createHmac } from 'node:crypto'
import type { ScrubRule } from './scrub-rules.api.ts'
import { RuleBudget, type CustomRule } from './rule-budget.ts'
import { textPattern, type TextPattern } from './scrub-patterns.ts'
import { FILTERED, TOO_COSTLY } from './scrub-words.ts'

/** Applies scrubbing rules of a project to single values. */

/** A compiled rule for a value. */
export type CompiledRule = {
  readonly action: ScrubRule['action']
  /** Null for the whole value. */
  readonly pattern: TextPattern | null
  /** Null for a built-in pattern. */
  readonly custom: CustomRule | null
  readonly word: string
}

/** Built-in patterns take linear time. */
const NO_CHECK = (): void => {}

/** Every built-in pattern needs one of these characters. */
const NAME_WITH_VALUE = /[\d@%:]|bearer/i

const HASHED = /^hash:[0-9a-f]{24}$/

/** Applies rules to single values, within a limit of cost per payload. */
export class RuleActions {
  readonly rules: readonly CompiledRule[]
  readonly #key: Buffer | null
  #budget = new RuleBudget()

  constructor(rules: readonly ScrubRule[], key: Buffer | null) {
    this.#key = key
    this.rules = rules.map((rule) => {
      const pattern = textPattern(rule, FILTERED)
      const custom = rule.pattern === 'custom' ? { path: rule.path, regex: rule.regex ?? '' } : null
      return { action: rule.action, pattern, custom, word: pattern?.word ?? FILTERED }
    })
  }

  /** Starts a payload, or continues one. */
  begin(budget: RuleBudget): void {
    this.#budget = budget
  }

  /** Whether one of them removes the value with its key. */
  removes(rules: readonly number[]): boolean {
    return rules.some((rule) => this.rules[rule]?.action === 'remove' && this.rules[rule].pattern === null)
  }

  /** Whether one of them applies to whole values of any content. */
  takesWhole(rules: readonly number[]): boolean {
    return rules.some((rule) => this.rules[rule]?.pattern === null)
  }

  /** Applies these rules to a text; returns the same string when none matches. */
  onText(text: string, rules: readonly number[]): string {
    let clean = text
    for (const index of rules) {
      const rule = this.rules[index]
      if (rule === undefined || clean === '' || clean === FILTERED || clean === TOO_COSTLY) continue
      if (rule.pattern === null) {
        if (rule.action !== 'remove') clean = this.#put(rule, clean)
        continue
      }
      const { pattern, custom } = rule
      const text = clean
      const search = (check: () => void): string =>
        pattern.replace(text, (match) => (rule.action === 'remove' ? '' : this.#put(rule, match)), check)
      clean = custom === null ? search(NO_CHECK) : (this.#budget.spend(custom, text, search) ?? TOO_COSTLY)
    }
    return clean
  }

  /** Applies only built-in patterns to names of fields; a custom expression could rename the fields of an event. */
  onName(name: string, rules: readonly number[]): string {
    if (!NAME_WITH_VALUE.test(name)) return name
    return this.onText(
      name,
      rules.filter((rule) => this.rules[rule]?.pattern !== null && this.rules[rule]?.custom === null),
    )
  }

  #put(rule: CompiledRule, match: string): string {
    if (rule.action !== 'hash' || this.#key === null) return rule.word
    if (HASHED.test(match)) return match
    return `hash:${createHmac('sha256', this.#key).update(match).digest('hex').slice(0, 24)}`
  }
}
