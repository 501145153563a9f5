import { queryOptions } from '@tanstack/react-query'
import { requiredValues } from '#shared/query-terms.ts'
import { readSuggestions } from './suggestions.ts'

/** A value of a key, with the number of issues that have it; null if they are not counted. */
export type TermValue = { readonly value: string; readonly count: number | null }

/** A value without the quotes that a query needs. */
const unquoted = (text: string): string => requiredValues(`key:${text}`, ['key'])[0] ?? text

const LIMIT = 50

/** The values of a key that begin with a text, those of most issues first. */
export const valuesQuery = (project: string | null, key: string, prefix: string) =>
  queryOptions({
    queryKey: ['term-values', project, key, prefix],
    queryFn: async ({ signal }) => {
      const { items, newest } = await readSuggestions(project, key, prefix, LIMIT, signal)
      return { values: items.map(({ text, count }): TermValue => ({ value: unquoted(text), count })), newest }
    },
    // While the beginning is typed, the values before stay.
    placeholderData: (previous, query) => (query?.queryKey[2] === key ? previous : undefined),
    staleTime: 15_000,
    meta: { quiet: true },
  })

/** The keys that events have values of, tags among them. */
export const keysQuery = (project: string | null) =>
  queryOptions({
    queryKey: ['term-keys', project],
    queryFn: async ({ signal }) => {
      const { items } = await readSuggestions(project, null, '', LIMIT, signal)
      return items.filter(({ count }) => count !== null).map(({ text }) => text)
    },
    staleTime: 15_000,
    meta: { quiet: true },
  })
