/**
 * JSON whose numbers are written again as they stand in the text: a double holds neither 12345678901234567890 nor 1e400,
 * and writes 1.0 as 1. For text that is only passed on; whoever reads values wants numbers.
 */

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

declare global {
  /** ECMA-262 "JSON.parse source text access", which TypeScript does not know yet. */
  interface JSON {
    parse(text: string, reviver: Reviver): unknown
    rawJSON(text: string): unknown
  }
}

/** Whether a number may be written otherwise than it stands there; strings that look so cost time, nothing else. */
const MAY_DIFFER = /(?:\d\.?){16}|\d[eE]|-0|0\.000000|\.\d*0(?!\d)/

/** @param text valid JSON @param value of it, parsed; taken where nothing differs */
export function exactJson(text: string, value: unknown): unknown {
  if (!MAY_DIFFER.test(text)) return value
  return JSON.parse(text, (_key, one, { source }) =>
    typeof one === 'number' && source !== undefined && JSON.stringify(one) !== source ? JSON.rawJSON(source) : one,
  )
}
