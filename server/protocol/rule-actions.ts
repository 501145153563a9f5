import { createHmac } from 'node:crypto'
import type { ScrubRule } from './scrub-rules.api.ts'
import { textPattern, type TextPattern } from './scrub-patterns.ts'
import { FILTERED } from './scrub-words.ts'

/** What the rules of a project do to a single value. */

/** A rule ready to be used on a value. */
export type CompiledRule = {
  readonly action: ScrubRule['action']
  /** Null for the whole value. */
  readonly pattern: TextPattern | null
  readonly isCustom: boolean
  readonly word: string
}

/** So much text of one payload is looked through by expressions people wrote; what is longer is replaced whole. */
const MAX_CUSTOM_CHARACTERS = 2_000_000

/** What every built-in pattern needs. */
const NAME_WITH_VALUE = /[\d@%:]|bearer/i

const HASHED = /^hash:[0-9a-f]{24}$/

/** Applies rules to single values, and keeps count of what that costs. */
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

  /** A new payload. */
  begin(): void {
    this.#charactersLeft = MAX_CUSTOM_CHARACTERS
  }

  /** Whether one of them takes the whole value away, key and all. */
  removes(rules: readonly number[]): boolean {
    return rules.some((rule) => this.rules[rule]?.action === 'remove' && this.rules[rule].pattern === null)
  }

  /** Whether one of them means whole values, whatever they hold. */
  takesWhole(rules: readonly number[]): boolean {
    return rules.some((rule) => this.rules[rule]?.pattern === null)
  }

  /** The text under these rules, one after the other; the very same string where none says anything. */
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

  /** Names of fields: only built-in patterns. An expression for anything would rename what makes an event an event. */
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
