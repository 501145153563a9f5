import { DAY_MS } from '../ui/format.ts'

/** Whole days in UTC, both included, as the API takes them: up to the start of the day after the last. */
export const dayRange = (from: string | undefined, to: string | undefined): { from?: string; to?: string } => ({
  ...(from === undefined ? {} : { from: `${from}T00:00:00Z` }),
  ...(to === undefined ? {} : { to: new Date(Date.parse(to) + DAY_MS).toISOString() }),
})
