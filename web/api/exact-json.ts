type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

declare global {
  /** ECMA-262 "JSON.parse source text access", which TypeScript does not know yet, and older browsers neither. */
  interface JSON {
    parse(text: string, reviver: Reviver): unknown
    rawJSON(text: string): unknown
  }
}

/**
 * JSON to be shown: JSON.stringify writes its numbers as they stand in the text, which a double cannot hold all of
 * (12345678901234567890). The same as server/protocol/exact-json.ts; browsers without it read numbers.
 */
export const exactJson = (text: string): unknown =>
  JSON.parse(text, (_key, value, context) =>
    typeof value === 'number' && context?.source !== undefined && JSON.stringify(value) !== context.source
      ? JSON.rawJSON(context.source)
      : value,
  )
