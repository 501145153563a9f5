import { createHmac } from 'node:crypto'
import type { ScrubRule } from './scrub-rules.api.ts'
import { textPattern, type TextPattern } from './scrub-patterns.ts'
import { FILTERED } from './scrub-words.ts'

/** Applies scrubbing rules of a project to single values. */

/** A compiled rule for a value. */
export type CompiledRule = {
  readonly action: ScrubRule['action']
  /** Null for the whole value. */
  readonly pattern: TextPattern | null
  readonly isCustom: boolean
  readonly word: string
}

/** Maximum text of a payload that custom expressions search; longer text is replaced completely. */
const MAX_CUSTOM_CHARACTERS = 2_000_000

/** Every built-in pattern needs one of these characters. */
const NAME_WITH_VALUE = /[\d@%:]|bearer/i

const HASHED = /^hash:[0-9a-f]{24}$/

/** Applies rules to single values, within a limit of cost per payload. */
export class RuleActions {
  readonly rules: readonly CompiledRule[]
  readonly #key: Buffer | null
  #charactersLeft = MAX_CUSTOM_CHARACTERS

  constructor(rules: readonly ScrubRule[], key: Buffer | null) {
    this.#key = key
    this.rules = rules.map((rule) => {
      const pattern = textPattern(rule, FILTERED)
      return { action: rule.action, pattern, isCustom: rule.pattern === 'custom', word: pattern?.word ?? FILTERED }
    })
  }

  /** Starts a payload. */
  begin(): void {
    this.#charactersLeft = MAX_CUSTOM_CHARACTERS
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
      if (rule === undefined || clean === '' || clean === FILTERED) continue
      if (rule.pattern === null) {
        if (rule.action !== 'remove') clean = this.#put(rule, clean)
        continue
      }
      if (rule.isCustom) {
        this.#charactersLeft -= clean.length
        if (this.#charactersLeft < 0) return FILTERED
      }
      clean = rule.pattern.replace(clean, (match) => (rule.action === 'remove' ? '' : this.#put(rule, match)))
    }
    return clean
  }

  /** Applies only built-in patterns to names of fields; a custom expression could rename the fields of an event. */
  onName(name: string, rules: readonly number[]): string {
    if (!NAME_WITH_VALUE.test(name)) return name
    return this.onText(
      name,
      rules.filter((rule) => this.rules[rule]?.pattern !== null && this.rules[rule]?.isCustom === false),
    )
  }

  #put(rule: CompiledRule, match: string): string {
    if (rule.action !== 'hash' || this.#key === null) return rule.word
    if (HASHED.test(match)) return match
    return `hash:${createHmac('sha256', this.#key).update(match).digest('hex').slice(0, 24)}`
  }
}
