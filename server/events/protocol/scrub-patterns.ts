import { compileLinearPattern, PatternTooLargeError } from '../../platform/kernel/linear-pattern.ts'
import { CostLimitError } from './rule-budget.ts'
import type { ScrubRule } from './scrub-rules.api.ts'
import { replaceCards, replaceIbans, replaceSsns } from './scrub-numbers.ts'
import { EMAIL } from './scrub-words.ts'

/** Patterns that rules search in text (events/protocol/scrub-rules.api.ts), and the replacements they leave. */
export type TextPattern = {
  readonly word: string
  /** @param check called while a custom expression searches; an error that it throws ends the search */
  replace(text: string, by: (match: string) => string, check: () => void): string
}

const byExpression = (
  word: string,
  expression: RegExp,
  accepts: (match: string) => boolean = () => true,
): TextPattern => ({
  word,
  replace: (text, by) => text.replace(expression, (match) => (accepts(match) ? by(match) : match)),
})

/** Every repetition is bounded or followed by a character it cannot match, so that matching takes linear time. */
const IPV4 = /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]*\d)/g
const IPV6 =
  /(?<![\w:.])(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){1,7}:(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?|::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?)(?:\d{0,3}(?:\.\d{1,3}){3})?(?![\w:])/gi
const BEARER = /(?<![A-Za-z])bearer\s{1,10}[A-Za-z0-9._~+/=-]{6,}/gi
const UUID = /(?<![0-9a-f-])[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?![0-9a-f-])/gi
/** With a country code, in brackets, or in groups; plain digits are a number. */
const PHONE =
  /(?<![\w.+-])(?:(?:\+|00)[1-9]\d{0,2}(?:[ ./()-]{0,3}\d){6,12}|\(\d{2,5}\)[ ./-]{0,2}\d{2,5}(?:[ ./-]\d{2,5}){0,3}|0\d{1,4}[ /-]\d{2,5}(?:[ /-]\d{2,5}){0,3}|\d{3}[ .-]\d{3}[ .-]\d{4})(?![\w-])/g

const countDigits = (text: string): number => text.replaceAll(/\D/g, '').length

const BUILT_IN: Readonly<Record<Exclude<ScrubRule['pattern'], 'anything' | 'custom'>, TextPattern>> = {
  email: byExpression('[e-mail]', EMAIL),
  ip_address: {
    word: '[address]',
    replace: (text, by) =>
      (text.includes(':') ? text.replace(IPV6, (match) => (/\d/.test(match) ? by(match) : match)) : text).replace(
        IPV4,
        by,
      ),
  },
  credit_card: { word: '[card number]', replace: replaceCards },
  iban: { word: '[IBAN]', replace: replaceIbans },
  ssn: { word: '[social security number]', replace: replaceSsns },
  bearer: byExpression('[bearer token]', BEARER),
  phone: byExpression('[phone number]', PHONE, (match) => countDigits(match) >= 7 && countDigits(match) <= 15),
  uuid: byExpression('[UUID]', UUID),
}

/** For an expression that was saved before its size was limited. */
const refuse = (): never => {
  throw new CostLimitError()
}

/**
 * Returns null for the whole value: for `anything`, and for an expression that cannot be compiled, to remove too much
 * instead of too little.
 */
export function textPattern(rule: Pick<ScrubRule, 'pattern' | 'regex'>, word: string): TextPattern | null {
  if (rule.pattern === 'anything') return null
  if (rule.pattern !== 'custom') return BUILT_IN[rule.pattern]
  try {
    const custom = compileLinearPattern(rule.regex ?? '')
    return { word, replace: (text, by, check) => custom.replace(text, by, check) }
  } catch (error) {
    return error instanceof PatternTooLargeError ? { word, replace: refuse } : null
  }
}
