import type { RangeName } from './issue-values.ts'

/** Whether a share of the users of a range is comparable with a limit of daily users: over more days more are affected. */
export const isOfOneDay = (range: RangeName): boolean => range === '1h' || range === '24h'
