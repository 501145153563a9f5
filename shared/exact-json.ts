type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

declare global {
  /** ECMA-262 "JSON.parse source text access", which TypeScript does not know yet, and older browsers neither. */
  interface JSON {
    parse(text: string, reviver: Reviver): unknown
    rawJSON(text: string): unknown
  }
}

/** Whether a number may be written differently than it was read; strings that look so only cost time. */
const MAY_DIFFER = /(?:\d\.?){16}|\d[eE]|-0|0\.000000|\.\d*0(?!\d)/

/**
 * JSON whose numbers JSON.stringify writes exactly as in the text: a double holds neither
 * 12345678901234567890 nor 1e400, and writes 1.0 as 1. For text that is passed on or shown, not for reading values.
 * Browsers without source text access return plain numbers.
 * @param text valid JSON
 * @param parsed the parsed text, when the caller has it already; returned unchanged where no number can differ
 */
export function exactJson(text: string, parsed?: unknown): unknown {
  if (!MAY_DIFFER.test(text)) return parsed === undefined ? JSON.parse(text) : parsed
  return JSON.parse(text, (_key, value, context) =>
    typeof value === 'number' && context?.source !== undefined && JSON.stringify(value) !== context.source
      ? JSON.rawJSON(context.source)
      : value,
  )
}
