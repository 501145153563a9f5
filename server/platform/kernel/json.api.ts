import { z } from 'zod'

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/**
 * Any JSON value, unchecked. For responses whose content was JSON before: checking it with `z.json()` took ten times as
 * long as producing it (measured with an event of 80 kB: 10 ms).
 */
export const Json = z.custom<JsonValue>(() => true)

/** The value of a JSON text; undefined when it is none. */
export function readJsonText(text: { toString(): string }): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}
