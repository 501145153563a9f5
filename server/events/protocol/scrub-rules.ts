import type { ScrubRule } from './scrub-rules.api.ts'
import { isList, isRecord } from './json.ts'
import { GuardError, type GuardedJson, parseGuarded, writeJson } from './json-guard.ts'
import { NOWHERE, RulePaths, type RuleState } from './rule-paths.ts'
import { FILTERED, TOO_COSTLY } from './scrub-words.ts'
import { createHmac } from 'node:crypto'
import { RuleBudget, type CustomRule } from './rule-budget.ts'
import { textPattern, type TextPattern } from './scrub-patterns.ts'

/** The compiled rules of a project. */
export type ProjectRules = {
  /**
   * Changes the payload in place. Never throws.
   * @param budget what custom expressions may cost
   * @returns whether it changed
   */
  apply(raw: Record<string, unknown>, budget: RuleBudget): boolean
}

/** Deeper than the guard allows. */
const MAX_DEPTH = 128
/** Maximum texts of a payload that are parsed as JSON. */
const MAX_JSON_TEXTS = 500

/** Names of old clients for parts of an event; paths match them as well. */
const ALIASES: Readonly<Record<string, string>> = {
  logentry: 'message',
  'sentry.interfaces.Message': 'message',
  'sentry.interfaces.User': 'user',
  'sentry.interfaces.Http': 'request',
  'sentry.interfaces.Exception': 'exception',
  'sentry.interfaces.Breadcrumbs': 'breadcrumbs',
  'sentry.interfaces.Stacktrace': 'stacktrace',
}

const ATTRIBUTE_TYPE = /^(?:string|integer|double|boolean|array)(?:\[\])?$/

/**
 * Compiles rules; call it once per change of the settings.
 * @param hashKey without it, rules replace instead of hashing
 */
export function compileRules(rules: readonly ScrubRule[], hashKey: Buffer | null): ProjectRules {
  const paths = new RulePaths(rules.map(({ path }) => path))
  const actions = new RuleActions(rules, hashKey)
  return {
    apply(raw, budget) {
      actions.begin(budget)
      const walk = new Walk(paths, actions)
      return walk.record(raw, paths.start(), 0)
    },
  }
}

/** Applies the rules to one payload. */
class Walk {
  readonly #paths: RulePaths
  readonly #actions: RuleActions
  #jsonTextsLeft = MAX_JSON_TEXTS

  constructor(paths: RulePaths, actions: RuleActions) {
    this.#paths = paths
    this.#actions = actions
  }

  record(record: Record<string, unknown>, state: RuleState, depth: number): boolean {
    let changed = false
    // A path to an attribute (`{value, type, unit?}`) means its value.
    const isAttribute = 'value' in record && typeof record['type'] === 'string' && ATTRIBUTE_TYPE.test(record['type'])
    for (const key of Object.keys(record)) {
      if (isAttribute && key !== 'value') continue
      const value = record[key]
      if (value === null) continue
      const next = isAttribute ? state : this.#below(state, key, value, depth)
      if (next === NOWHERE) continue
      const rules = this.#paths.rulesAt(next)
      if (this.#actions.removes(rules)) {
        delete record[key]
        changed = true
        continue
      }
      const clean = this.#value(value, next, depth + 1)
      if (clean !== value) {
        record[key] = clean
        if (isAttribute && typeof clean === 'string') record['type'] = 'string'
      }
      if (clean !== value || this.#touched) changed = true
      this.#touched = false
      if (!isAttribute && this.#rename(record, key, state)) changed = true
    }
    return changed
  }

  /** Set when a value was changed in place. */
  #touched = false

  /** The lists `values` of exceptions, threads and breadcrumbs are not part of paths. */
  #below(state: RuleState, key: string, value: unknown, depth: number): RuleState {
    const next = this.#paths.step(state, key)
    if (key === 'values' && isList(value)) return this.#paths.both(next, state)
    const alias = depth === 0 && Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined
    return alias === undefined ? next : this.#paths.both(next, this.#paths.step(state, alias))
  }

  /** Names may contain addresses and numbers as well. */
  #rename(record: Record<string, unknown>, key: string, state: RuleState): boolean {
    const rules = this.#paths.rulesAt(state)
    if (rules.length === 0 || key.length < 5) return false
    const clean = this.#actions.onName(key, rules)
    if (clean === key || clean === '__proto__') return false
    const value = record[key]
    delete record[key]
    record[clean] = value
    return true
  }

  /** Returns the new value: another one, or the same, perhaps changed inside (`#touched`). */
  #value(value: unknown, state: RuleState, depth: number): unknown {
    const rules = this.#paths.rulesAt(state)
    switch (typeof value) {
      case 'string':
        return this.#text(value, state, rules, depth)
      case 'number':
      case 'boolean': {
        if (rules.length === 0) return value
        const text = String(value)
        const clean = this.#actions.onText(text, rules)
        return clean === text ? value : clean
      }
      case 'object': {
        if (value === null) return value
        if (depth >= MAX_DEPTH) return FILTERED
        if (isList(value) ? this.#list(value, state, depth) : isRecord(value) && this.record(value, state, depth))
          this.#touched = true
        return value
      }
      default:
        return value
    }
  }

  #text(text: string, state: RuleState, rules: readonly number[], depth: number): string {
    const nested = this.#jsonText(text, state, depth)
    return rules.length === 0 ? nested : this.#actions.onText(nested, rules)
  }

  /** Applies paths inside a text that is JSON. */
  #jsonText(text: string, state: RuleState, depth: number): string {
    const ends = text.at(0) + (text.at(-1) ?? '')
    if ((ends !== '{}' && ends !== '[]') || this.#jsonTextsLeft === 0 || depth > 16) return text
    this.#jsonTextsLeft -= 1
    let parsed: GuardedJson
    try {
      parsed = parseGuarded(Buffer.from(text))
    } catch (error) {
      // It is not known what rules would match in it.
      return error instanceof GuardError && error.word !== 'not_json' ? FILTERED : text
    }
    const { value, isExact, longNumbers } = parsed
    const changed = isList(value)
      ? this.#list(value, state, depth + 8)
      : isRecord(value) && this.record(value, state, depth + 8)
    // With repeated keys the text has values that the rules did not see.
    return changed || !isExact ? writeJson(value, longNumbers) : text
  }

  #list(list: unknown[], state: RuleState, depth: number): boolean {
    let changed = false
    const takesAll = this.#actions.takesWhole(this.#paths.rulesAt(state))
    for (let index = 0; index < list.length; index += 1) {
      const element = list[index]
      const named = this.#named(element, state)
      if (named !== null && named !== NOWHERE && this.#actions.removes(this.#paths.rulesAt(named))) {
        list.splice(index, 1)
        index -= 1
        changed = true
        continue
      }
      // For a rule that applies to whole values, a list of two texts is two values.
      if (isList(element) && named !== null && !takesAll) {
        if (this.#pair(element, state, named, depth + 1)) changed = true
        continue
      }
      if (isRecord(element) && named !== null && named !== NOWHERE) {
        const clean = this.#value(element['value'], named, depth + 1)
        if (clean !== element['value']) {
          element['value'] = clean
          changed = true
        }
      }
      const clean = this.#value(element, state, depth + 1)
      if (clean !== element) list[index] = clean
      if (clean !== element || this.#touched) changed = true
      this.#touched = false
    }
    return changed
  }

  /** The name in `['X-Header', value]` and `{key | name, value}`; null for other elements. */
  #named(element: unknown, state: RuleState): RuleState | null {
    if (isList(element))
      return element.length === 2 && typeof element[0] === 'string' ? this.#paths.step(state, element[0]) : null
    if (!isRecord(element) || !('value' in element)) return null
    const name = element['key'] ?? element['name']
    return typeof name === 'string' ? this.#paths.step(state, name) : null
  }

  #pair(pair: unknown[], state: RuleState, named: RuleState, depth: number): boolean {
    let changed = false
    const name = String(pair[0])
    const cleanName = this.#actions.onName(name, this.#paths.rulesAt(state))
    if (cleanName !== name) {
      pair[0] = cleanName
      changed = true
    }
    const value = pair[1]
    const clean = this.#value(value, named, depth)
    if (clean !== value) pair[1] = clean
    if (clean !== value || this.#touched) changed = true
    this.#touched = false
    return changed
  }
}

/** Applies scrubbing rules of a project to single values. */

/** A compiled rule for a value. */
type CompiledRule = {
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
class RuleActions {
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
