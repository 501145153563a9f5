/**
 * Users by slots, which are quarters of an hour since 1970 (docs/decisions/issue-ranges.md). A user who is seen in a slot
 * is counted there under the slot in which the user was seen before. The distinct users of a time from `a` to `b` are the
 * users of slots from `a` to `b` who were seen before `a`, or never.
 */

export const SLOT_MS = 900_000
const SLOTS_PER_HOUR = 4
export const SLOTS_PER_DAY = 24 * SLOTS_PER_HOUR

export const toSlot = (ms: number): number => Math.floor(ms / SLOT_MS)

/**
 * How precisely the slot before is kept: the start of a time is aligned the more coarsely the longer the time is
 * (`count-window.ts`), and only a time that is longer than the distance of both slots can begin between them. The
 * distances are longer than the longest time of each alignment by what alignment adds.
 */
const PRECISION = [
  { maxDistance: SLOTS_PER_DAY + SLOTS_PER_HOUR, step: 1 },
  { maxDistance: 7 * SLOTS_PER_DAY + 2 * SLOTS_PER_HOUR, step: SLOTS_PER_HOUR },
  { maxDistance: 92 * SLOTS_PER_DAY, step: 6 * SLOTS_PER_HOUR },
] as const

/** SQL of the slot that is kept of the slot before. @param slot, before columns; `before` is 0 for never */
export const beforeSlot = (slot: string, before: string): string =>
  `case when ${before} = 0 then 0 ${PRECISION.map(
    ({ maxDistance, step }) => `when ${slot} - ${before} <= ${maxDistance} then ${before} - ${before} % ${step}`,
  ).join(' ')} else 0 end`
