import type { App } from '../context/app.ts'
import type { LiveMessage } from '../live/live.api.ts'
import type { Tx } from '../storage/database.ts'
import type { Trigger } from './delivery.ts'

/** A sender of deliveries: signed webhooks, mails, later actions of alerts. `server/service/channels.ts` lists all. */
export type Channel = {
  /** As lanes store it. */
  readonly name: string
  /** Delay before each attempt of the schedule: the first is 0, the others count from the end of the attempt before. */
  readonly delaysMs: readonly number[]
  /** Wall clock of one attempt; the engine aborts its signal then. At most 25 s: a lease takes 30 s. */
  readonly timeoutMs: number
  /**
   * Reads what sending a batch needs, such as endpoints and secrets, outside a transaction. When it throws, the attempts
   * are repeated without being counted.
   */
  prepare(app: App, batch: readonly ClaimedDelivery[]): Promise<Send>
  /** Runs in the transaction that records the attempts: newest status, counts, facts. The order is by delivery id. */
  settled(tx: Tx, app: App, attempts: readonly SettledAttempt[]): Promise<void>
  /** The live message that deliveries of these lanes changed. */
  live?(laneIds: readonly string[]): LiveMessage
}

/**
 * Nothing was sent, for a reason on our side such as a bound of connections: no attempt. The delivery is claimed again
 * soon.
 */
export class NotSentError extends Error {}

/** Makes one attempt. Any other error than {@link NotSentError} counts as a failed attempt without a status. */
export type Send = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<AttemptResult>

/** A delivery in the hands of a worker. */
export type ClaimedDelivery = {
  readonly id: string
  readonly laneId: string
  readonly orgId: string
  readonly messageId: string
  readonly type: string
  /** The bytes to send. */
  readonly body: Buffer
  readonly secretVersion: number | null
  readonly trigger: Trigger
  /** Number of this attempt among all of the delivery, from 1. */
  readonly n: number
}

export type AttemptResult = {
  readonly outcome: 'delivered' | 'failed'
  /** Status of the answer; null without an answer. */
  readonly status: number | null
  readonly errorCode: string | null
  readonly errorText: string | null
  readonly durationMs: number
  /** It failed for a reason that no retry changes, such as a receiver that is gone: the schedule ends. */
  readonly isFinal?: true
  /** The receiver asked to wait so long: the next attempt is made no earlier. */
  readonly retryAfterMs?: number
  /** Details that the channel keeps with the attempt; without secrets. */
  readonly details: Readonly<Record<string, unknown>>
}

/** An attempt whose result is recorded in this transaction. */
export type SettledAttempt = {
  readonly delivery: ClaimedDelivery
  readonly result: AttemptResult
  /** On the database's clock. */
  readonly startedAt: Date
  readonly endedAt: Date
  /** It was the last attempt of the schedule, and it failed. */
  readonly isExhausted: boolean
}
