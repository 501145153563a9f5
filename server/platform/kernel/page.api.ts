import { z } from 'zod'

/** List conventions of the API: `limit` 1…100, `offset` 0…10,000, `cursor` beyond that, answers with `total`. */

/** Takes the decimal text of a query string; refuses other numbers instead of rounding them. */
const wholeNumber = (name: string, min: number, max: number, hint = '') =>
  z
    .string()
    .regex(/^\d{1,9}$/, { error: `${name} must be a whole number from ${min} to ${max}.${hint}` })
    .transform(Number)
    .refine((n) => n >= min && n <= max, { error: `${name} must be a whole number from ${min} to ${max}.${hint}` })
    .meta({ type: 'integer', minimum: min, maximum: max })

/** Query fields of a list without a cursor. */
export const offsetQuery = (defaultLimit = 25) => ({
  limit: wholeNumber('limit', 1, 100)
    .default(defaultLimit)
    .describe(`Rows per page, 1 to 100; ${defaultLimit} unless given.`),
  offset: wholeNumber('offset', 0, 10_000).default(0).describe('Rows to skip, at most 10,000.'),
})

/** Query fields of every other list. */
export const pageQuery = (defaultLimit = 25) => ({
  ...offsetQuery(defaultLimit),
  offset: wholeNumber('offset', 0, 10_000, ' Use cursor to go further.')
    .default(0)
    .describe('Rows to skip, at most 10,000; page further with cursor.'),
  // The cursor of a list sorted by name contains the name: up to 200 characters of any script.
  cursor: z.string().min(1).max(2_000).optional().describe('next_cursor of the page before; replaces offset.'),
})

const NAME_SORTS = ['name', '-name', 'created_at', '-created_at'] as const
export type NameSort = (typeof NAME_SORTS)[number]
/** Query field of lists that are sorted by name or time of creation. */
export const nameSort = z.enum(NAME_SORTS, { error: `sort must be one of ${NAME_SORTS.join(', ')}.` }).default('name')

/** The answer of every list. */
export const pageSchema = <T extends z.ZodType>(item: T) =>
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

/** A query parameter that may repeat, as a list of its values. */
export const oneOrMany = <T extends z.ZodType>(list: T) =>
  z.preprocess((given) => (given === undefined || Array.isArray(given) ? given : [given]), list)

/** The largest `total`: further rows are not counted. */
export const TOTAL_CAP = 10_000

/** In lower case, as the database returns ids, so that both can be compared as text. */
export const Id = z.uuid({ error: 'must be a UUID.' }).toLowerCase()
export const Timestamp = z.iso.datetime()

/** A number of an answer, without the digits that only arithmetic put there. */
const rounded = (digits: number) => {
  const unit = 10 ** digits
  return z.number().overwrite((value) => Math.round(value * unit) / unit)
}
/** A share, rate or other quotient in an answer: six digits, for shares a ten-thousandth of a percent. */
export const Rate = rounded(6)
/** A duration in an answer, to the microsecond. */
export const Milliseconds = rounded(3)

/** Years of four digits in any time zone: RFC 3339 cannot express others. */
const FIRST_MS = Date.UTC(1000, 0)
const LAST_MS = Date.UTC(10_000, 0)

/** A time that a client sends. */
export const timeInput = (name: string) =>
  z.iso
    .datetime({ offset: true, error: `${name} must be an RFC 3339 time.` })
    .refine((given) => Date.parse(given) >= FIRST_MS && Date.parse(given) < LAST_MS, {
      error: `${name} must lie in the years 1000 to 9999, in UTC.`,
    })
