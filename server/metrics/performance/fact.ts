import { hash as digestOf } from 'node:crypto'
import type { DeviceClass } from '../../protocol/device-class.ts'
import type { Metric } from '../../protocol/span-values.ts'

/** What measurements are counted under. */
export type Place = {
  /** Name of the transaction or screen. */
  readonly name: string
  readonly op: string
  readonly release: string
  readonly environment: string
  readonly os: string
  readonly deviceClass: DeviceClass
}

export type MeasuredValue = {
  readonly metric: Metric
  readonly value: number
  /** Counted as left out, not as a value. */
  readonly isOut: boolean
  /** Which of two values under one `onceKey` counts: see `isBetter`. */
  readonly rank: number
  /** Values of the same key are one value told several times; null where each counts. */
  readonly onceKey: number | null
}

/** A transaction, a segment, or spans beside one: what is recorded of them. */
export type PerformanceFact = {
  readonly projectId: string
  /** Seen before, any of them: all of this was recorded already. None for spans that leave nothing behind. */
  readonly identities: readonly number[]
  /**
   * `segment`: counts as a transaction. `child`: brings values of a segment that may come in another envelope, before or
   * after. `own`: brings values of its own, not of a segment. `plain`: spans that are only counted.
   */
  readonly role: 'segment' | 'child' | 'own' | 'plain'
  /** Of the segment itself, or the one the child belongs to. */
  readonly segmentKey: number | null
  /** For a child: what it knows of its segment's place. */
  readonly place: Place | null
  /** The place's name tells nothing (`Pageload`): the segment's own place is waited for, for a while. */
  readonly waits: boolean
  readonly at: Date
  readonly failed: boolean
  readonly values: readonly MeasuredValue[]
}

/** 52 bits of a hash, so that a number holds it exactly. */
const keyOf = (...parts: readonly string[]): number =>
  Number.parseInt(digestOf('sha256', parts.join('\n'), 'hex').slice(0, 13), 16)

export const eventKey = (projectId: string, eventId: string): number => keyOf('event', projectId, eventId)
export const spanKey = (projectId: string, traceId: string, spanId: string): number =>
  keyOf('span', projectId, traceId, spanId)
/** One per segment and what it has one of (`app_start`, `lcp`). */
export const valueKey = (projectId: string, traceId: string, segmentId: string, slot: string): number =>
  keyOf('value', projectId, traceId, segmentId, slot)
