/** Name of the job that asks Expo for the receipts of pushes. */
export const RECEIPTS_JOB = 'push-receipts'

/** Expo has most receipts by then, and keeps them for a day. */
export const RECEIPTS_DELAY_MS = 15 * 60_000
