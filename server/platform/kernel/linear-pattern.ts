import { createRequire } from 'node:module'
import type * as Re2 from 're2js'
import { MAX_PATTERN_CHARACTERS } from '#shared/limits.ts'

/**
 * A regular expression written by a user. One match takes time linear in the length of the text, because it runs as an
 * automaton (RE2's syntax: no look-around, no back references). The factor is up to the number of the automaton's states,
 * and finding all matches may read the rest of the text once for each: the caller bounds the cost with `check`.
 */
type LinearPattern = {
  /**
   * The text with every match replaced; the same string when there is no match.
   * @param check called after every few hundred characters that were read; an error that it throws ends the search
   */
  replace(text: string, by: (match: string) => string, check: () => void): string
  /** States of its automaton; each takes memory, and time for compiling. */
  readonly states: number
}

/** States of the compiled expression. A character costs up to 30 ns for each state (measured). */
const MAX_STATES = 1_000
const READS_PER_CHECK = 256

let engine: typeof Re2 | undefined

/** Loaded for the first expression: most installations have none, and it takes 5 MB. */
function re2(): typeof Re2 {
  engine ??= createRequire(import.meta.url)('re2js') as typeof Re2
  return engine
}

/**
 * Every engine of re2js reads its text through `charCodeAt`, and nothing else of it takes long: the only place where a
 * search can be ended before it comes back.
 */
class MeteredText extends String {
  readonly #text: string
  readonly #check: () => void
  #reads = 0

  constructor(text: string, check: () => void) {
    super(text)
    this.#text = text
    this.#check = check
  }

  override charCodeAt(index: number): number {
    if (++this.#reads % READS_PER_CHECK === 0) this.#check()
    return this.#text.charCodeAt(index)
  }
}

/** An expression whose automaton is too large. */
export class PatternTooLargeError extends Error {}

/** @throws Error with a reason when the expression is invalid, is too large, or matches empty text */
export function compileLinearPattern(expression: string): LinearPattern {
  const engine = re2()
  const pattern = engine.RE2JS.compile(expression)
  const states = pattern.programSize()
  if (states > MAX_STATES)
    throw new PatternTooLargeError(`it has ${states} states, at most ${MAX_STATES} are allowed. ${advice(expression)}`)
  if (pattern.matcher('').matches()) throw new Error('it matches empty text')
  return {
    states,
    replace(text, by, check) {
      const matcher = pattern.matcher(engine.MatcherInput.utf16(new MeteredText(text, check)))
      let clean = ''
      let from = 0
      while (matcher.find()) {
        const [start, end] = [matcher.start(), matcher.end()]
        if (end === start) continue
        clean += text.slice(from, start) + by(text.slice(start, end))
        from = end
      }
      return from === 0 ? text : clean + text.slice(from)
    },
  }
}

/**
 * An expression for measuring what it costs at worst: the engine's shortcut for texts without a required literal is off,
 * so that the texts of a trial need not hold it.
 */
export function slowPattern(expression: string): { find(text: string): void; readonly advice: string } {
  const pattern = re2().RE2JS.compile(expression)
  pattern.re2().prefilter = null
  return {
    find(text) {
      const matcher = pattern.matcher(text)
      while (matcher.find());
    },
    advice: advice(expression),
  }
}

/** Advice on how to simplify an expression that is too large or too slow. */
function advice(expression: string): string {
  const [counted] = /\{\d{2,}(?:,\d*)?\}|\{\d*,\d{2,}\}/.exec(expression) ?? []
  return counted === undefined
    ? 'Use fewer alternatives, and narrower classes between fixed characters'
    : `Replace ${counted} by + or a smaller count, and repeat no group that is repeated inside`
}

/** The reason why an expression cannot be used, as a message for users; null when it can. */
export function patternProblem(expression: string): string | null {
  if (expression.length > MAX_PATTERN_CHARACTERS) return `it is longer than ${MAX_PATTERN_CHARACTERS} characters`
  try {
    compileLinearPattern(expression)
    return null
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '').slice(0, 240) : 'it is invalid'
  }
}
