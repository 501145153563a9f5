import { z } from 'zod'

/** List conventions of the API: `limit` 1…100, `offset` 0…10,000, `cursor` beyond that, answers with `total`. */

/** Takes the decimal text of a query string; anything else is refused rather than rounded. */
const wholeNumber = (name: string, min: number, max: number, hint = '') =>
  z
    .string()
    .regex(/^\d{1,9}$/, { error: `${name} must be a whole number from ${min} to ${max}.${hint}` })
    .transform(Number)
    .refine((n) => n >= min && n <= max, { error: `${name} must be a whole number from ${min} to ${max}.${hint}` })
    .meta({ type: 'integer', minimum: min, maximum: max })

/** Query fields every list takes. `defaultLimit` is 25 unless the endpoint says otherwise. */
export const pageQuery = (defaultLimit = 25) => ({
  limit: wholeNumber('limit', 1, 100)
    .default(defaultLimit)
    .describe(`Rows per page, 1 to 100; ${defaultLimit} unless given.`),
  offset: wholeNumber('offset', 0, 10_000, ' Use cursor to go further.')
    .default(0)
    .describe('Rows to skip, at most 10,000; page further with cursor.'),
  // Long enough for a name of 200 characters of any script, as a list by name puts it in.
  cursor: z.string().min(1).max(2_000).optional().describe('next_cursor of the page before; replaces offset.'),
})

/** The answer of every list. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    total: z.number().int(),
    total_capped: z.literal(true).optional().describe('Present when total stopped counting at 10,000.'),
    limit: z.number().int(),
    offset: z.number().int(),
    next_cursor: z.string().nullable(),
  })

export type Page<T> = {
  items: T[]
  total: number
  total_capped?: true | undefined
  limit: number
  offset: number
  next_cursor: string | null
}

/** Most rows counted for `total`. */
export const TOTAL_CAP = 10_000

/** In lower case, as the database gives it: what is compared with a row is the same text. */
export const Id = z.uuid({ error: 'must be a UUID.' }).toLowerCase()
export const Timestamp = z.iso.datetime()

/** Years of four digits with any offset: neither the database nor RFC 3339 can write others. */
const FIRST_MS = Date.UTC(1000, 0)
const LAST_MS = Date.UTC(10_000, 0)

/** A time as clients send it. */
export const timeInput = (name: string) =>
  z.iso
    .datetime({ offset: true, error: `${name} must be an RFC 3339 time.` })
    .refine((given) => Date.parse(given) >= FIRST_MS && Date.parse(given) < LAST_MS, {
      error: `${name} must lie in the years 1000 to 9999, in UTC.`,
    })
