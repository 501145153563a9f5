import { hash as digestOf } from 'node:crypto'
import type { BatteryLevel, DeviceClass } from '../../events/protocol/device-signals.ts'
import type { LeftOut, Metric } from '../../events/protocol/span-values.ts'

/** The dimensions of measurements: each combination is a series. */
export type Dimensions = {
  /** Name of the transaction or screen. */
  readonly name: string
  readonly op: string
  readonly release: string
  readonly environment: string
  readonly os: string
  readonly deviceClass: DeviceClass
  /** Only in series by device; elsewhere empty. */
  readonly device: string
}

export type MeasuredValue = {
  readonly metric: Metric
  readonly value: number
  /** Why the value is only counted as left out; null when it counts. */
  readonly leftOut: LeftOut | null
  /** Decides which of two values with one `onceKey` counts (`isBetter`). */
  readonly rank: number
  /** Values with the same key are one value that was sent several times. Null when each counts. */
  readonly onceKey: number | null
  /** When it was measured, if not at the time of its fact. */
  readonly at?: Date
}

/** Battery levels of one device, whose drain is known with those of earlier facts. */
type BatteryReadings = { readonly deviceKey: number; readonly levels: readonly BatteryLevel[] }

/** Spans that do the same in one transaction. */
export type Operations = {
  readonly op: string
  /** Without literals, ids and parameters; scrubbed. */
  readonly name: string
  /** The duration of each. */
  readonly ms: readonly number[]
  readonly failures: number
  /** Whether a cache had the key, of each span that says so. */
  readonly hits: readonly boolean[]
}

/** The time of spans without their children, by what they do. */
export type TimePart = { readonly name: string; readonly ms: readonly number[] }

/** The spans of a transaction, or those of one that arrived without it. */
export type CountedSpans = {
  /** Empty where the spans do not name it. */
  readonly transaction: string
  readonly environment: string
  readonly operations: readonly Operations[]
  readonly parts: readonly TimePart[]
}

/** A transaction, segment or span as it is recorded. */
export type PerformanceFact = {
  readonly projectId: string
  /** If one of these keys is known, the fact is a duplicate. Empty for spans that are not recorded. */
  readonly identities: readonly number[]
  /**
   * `segment`: counts as a transaction. `child`: has values of a segment, which may arrive in another envelope, earlier or
   * later. `own`: has values that belong to no segment. `plain`: has no values; without identities it is only counted as an
   * item.
   */
  readonly role: 'segment' | 'child' | 'own' | 'plain'
  /** Key of the segment, or of the child's segment. */
  readonly segmentKey: number | null
  /** For a child: the dimensions of its segment, as far as the child has them. */
  readonly dimensions: Dimensions | null
  /** The name is generic (`Pageload`): the values wait for the segment, up to an hour. */
  readonly waits: boolean
  readonly at: Date
  readonly failed: boolean
  /** The hash of a segment's user (`hashUser`); absent where it names none. */
  readonly user?: number
  readonly values: readonly MeasuredValue[]
  readonly battery?: BatteryReadings
  readonly spans?: readonly CountedSpans[]
}

/** 52 bits of a hash: a number holds them exactly. */
const keyOf = (...parts: readonly string[]): number =>
  Number.parseInt(digestOf('sha256', parts.join('\n'), 'hex').slice(0, 13), 16)

export const eventKey = (projectId: string, eventId: string): number => keyOf('event', projectId, eventId)
export const spanKey = (projectId: string, traceId: string, spanId: string): number =>
  keyOf('span', projectId, traceId, spanId)
/** Keys of what an event says beside being one: its cause as an ANR, its device's signals; and of spans without values. */
export const partKey = (projectId: string, part: 'anr' | 'signals' | 'spans', id: string): number =>
  keyOf(part, projectId, id)
/** Key of a device of a user. */
export const userDeviceKey = (projectId: string, user: string, device: string): number =>
  keyOf('device', projectId, user, device)
/** Key of a warning that several events report. */
export const warningKey = (projectId: string, owner: string, metric: string, time: string): number =>
  keyOf('warning', projectId, owner, metric, time)
/** Key of a value that a segment has once (`app_start`, `lcp`). */
export const valueKey = (projectId: string, traceId: string, segmentId: string, slot: string): number =>
  keyOf('value', projectId, traceId, segmentId, slot)
