import { createRequire } from 'node:module'
import type * as Re2 from 're2js'
import { MAX_PATTERN_CHARACTERS } from '#shared/limits.ts'

/**
 * A regular expression written by a user. Matching takes time linear in the length of the text, because it runs as an
 * automaton (RE2's syntax: no look-around, no back references).
 */
export type LinearPattern = {
  /** The text with every match replaced; the same string when there is no match. */
  replace(text: string, by: (match: string) => string): string
}

let engine: typeof Re2 | undefined

/** Loaded for the first expression: most installations have none, and it takes 5 MB. */
function re2(): typeof Re2 {
  engine ??= createRequire(import.meta.url)('re2js') as typeof Re2
  return engine
}

/** @throws Error with the engine's reason when the expression is invalid, or when it matches empty text */
export function compileLinearPattern(expression: string): LinearPattern {
  const pattern = re2().RE2JS.compile(expression)
  if (pattern.matcher('').matches()) throw new Error('it matches empty text')
  return {
    replace(text, by) {
      const matcher = pattern.matcher(text)
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

/** The reason why an expression cannot be used, as a message for users; null when it can. */
export function patternProblem(expression: string): string | null {
  if (expression.length > MAX_PATTERN_CHARACTERS) return `it is longer than ${MAX_PATTERN_CHARACTERS} characters`
  try {
    compileLinearPattern(expression)
    return null
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '').slice(0, 120) : 'it is invalid'
  }
}
