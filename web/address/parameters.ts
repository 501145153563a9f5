/**
 * Readers of search parameters. They are plain functions, because the schemas of a library that also explains what is
 * wrong were 6 kB of the first load, and a wrong parameter is dropped without a word.
 */

/** The value of one parameter; undefined if it is absent or not allowed. */
export type Read<T> = (given: unknown) => T | undefined

/** The parameters of a page. */
export type PageParameters<T> = {
  readonly reads: { readonly [K in keyof T]: Read<T[K]> }
  /** The allowed values; unknown names and values are dropped. */
  parse(given: unknown): Parsed<T>
}

type Parsed<T> = { [K in keyof T]?: T[K] | undefined }

/** The values that the parameters of a page can have. */
export type ValuesOf<P extends { parse(given: unknown): unknown }> = ReturnType<P['parse']>

export function parameters<T>(reads: { readonly [K in keyof T]: Read<T[K]> }): PageParameters<T> {
  return {
    reads,
    parse(given) {
      const values: Readonly<Record<string, unknown>> = typeof given === 'object' ? { ...given } : {}
      const parsed: Parsed<T> = {}
      for (const name in reads) {
        const value = reads[name](values[name])
        if (value !== undefined) parsed[name] = value
      }
      return parsed
    },
  }
}

/** A text for which the test holds. */
export const text =
  (isAllowed: (given: string) => boolean): Read<string> =>
  (given) =>
    typeof given === 'string' && isAllowed(given) ? given : undefined

export const matching = (pattern: RegExp): Read<string> => text((given) => pattern.test(given))

export const shortText = (maxLength: number): Read<string> => text((given) => given !== '' && given.length <= maxLength)

/** One of the values. */
export const one =
  <const T extends string>(values: readonly T[]): Read<T> =>
  (given) =>
    values.find((value) => value === given)

/** A parameter that may repeat: its allowed values in the order of `values`, each once; undefined if there are none. */
export const many =
  <const T extends string>(values: readonly T[]): Read<T[]> =>
  (given) => {
    const wanted = listOf(given)
    return filled(values.filter((value) => wanted.includes(value)))
  }

/** A parameter of any allowed texts that may repeat: each once, at most 20. */
export const texts =
  (read: Read<string>): Read<string[]> =>
  (given) => {
    const kept = listOf(given).flatMap((value) => read(value) ?? [])
    return filled([...new Set(kept)].slice(0, 20))
  }

const listOf = (given: unknown): unknown[] => (Array.isArray(given) ? given : [given])

const filled = <T>(values: T[]): T[] | undefined => (values.length === 0 ? undefined : values)
