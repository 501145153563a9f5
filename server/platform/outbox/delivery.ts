/** Bus topic that wakes the workers. */
export const OUTBOX_TOPIC = 'outbox'

export type DeliveryState = 'pending' | 'in_flight' | 'delivered' | 'failed'

/** `schedule`: one of the attempts of `Channel.delaysMs`; `replay`: asked for by a member. */
export type Trigger = 'schedule' | 'replay'

/** A replay makes one attempt; `with_retries` begins a new schedule when it fails and none is running. */
export type Replay = 'once' | 'with_retries'

/** Something to send; its bytes never change. */
export type Message = {
  /** `newPrefixedId('evt')` */
  readonly id: string
  readonly orgId: string
  readonly type: string
  /** Whom it is about: an erasure of this user empties it. */
  readonly userId: string | null
  readonly body: Buffer
}

export type NewDelivery = {
  readonly messageId: string
  readonly laneId: string
  /** The secret that signs the attempts of the schedule. */
  readonly secretVersion?: number
  /** Not before so long from now, on the database's clock. Default 0. */
  readonly holdMs?: number
}

/** Bounds of a lane. */
type LaneBounds = {
  /** 1 to 100, all workers together. */
  readonly maxInFlight?: number
  /** 1 to 1,000; delays first attempts only. Null means no limit. */
  readonly maxPerSecond?: number | null
  /** The next delivery waits until the one before is delivered or finally failed. */
  readonly isStrict?: boolean
}

export type NewLane = LaneBounds & {
  /** Also the id of the endpoint, if there is one. */
  readonly id: string
  readonly orgId: string
  /** Name of a `Channel`. */
  readonly channel: string
}

export type LaneChange = LaneBounds & {
  /** A paused lane keeps its deliveries; what became due meanwhile is sent when it continues. */
  readonly isPaused?: boolean
}
