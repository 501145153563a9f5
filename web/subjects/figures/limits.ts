/** The words for figures of app health, and the limits between them where the service does not send them. Pure. */
import type { Bands, Word } from '#shared/rate-words.ts'

export { figureWord } from '#shared/rate-words.ts'
export type { Word }
export type Limits = Bands

/** The share of sessions or users with a crash, as the stores judge it. */
export const CRASH_LIMITS: Limits = { watch: 0.005, poor: 0.0109 }
/** One device model, against the limit of the stores for it. */
export const MODEL_LIMITS: Limits = { watch: 0.0109, poor: 0.08 }
/** The share of users with an ANR, as the stores judge it. */
export const ANR_LIMITS: Limits = { watch: 0.004, poor: 0.0047 }
/** Starts in ms. A warm start has no watch. */
export const COLD_LIMITS: Limits = { watch: 3_000, poor: 5_000 }
export const WARM_LIMITS: Limits = { watch: 2_000, poor: 2_000 }
/** Shares of frames. Frozen frames have no watch. */
export const SLOW_LIMITS: Limits = { watch: 0.1, poor: 0.25 }
export const FROZEN_LIMITS: Limits = { watch: 0.01, poor: 0.01 }
/** Sessions that held a wake lock for two hours or more. */
export const WAKE_LIMITS: Limits = { watch: 0.03, poor: 0.05 }
