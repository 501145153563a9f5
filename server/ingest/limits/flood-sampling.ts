import type { FloodGrouping } from '../../issues/grouping/flood-grouping.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { parseGuarded } from '../../events/protocol/json-guard.ts'
import { normalizeEvent } from '../../events/protocol/normalize.ts'
import { eventPrint } from './event-print.ts'

/** Events accepted of each kind that is first seen during a flood. */
const FIRST_EVENTS = 5
/** Events accepted per minute over all kinds: this share of the key's limit, with this minimum. */
const EXTRA_SHARE = 10
const MIN_EXTRA = 20
/** Bytes of events hashed and fingerprinted per second: about 120 and 30 ms of the thread (35 and 37 µs per 20 kB). */
const PRINT_BYTES = 64 * 1024 * 1024
const FINGERPRINT_BYTES = 16 * 1024 * 1024
/** Maximum share of these for one project: its flood must not hide new problems of other projects. */
const PROJECT_SHARE = 0.5
/** Fingerprints remembered per project, and projects remembered. */
const MAX_KINDS = 5_000
const MAX_PROJECTS = 500
/** A flood ends after this long without events over the limit; its memory is dropped. */
const FORGET_MS = 10 * 60_000

/** An event inside a decoded body. */
export type EventBytes = { readonly decoded: Buffer; readonly start: number; readonly end: number }

type FloodSubject = {
  readonly projectId: string
  readonly grouping: FloodGrouping
  /** The key's limit, items per minute. */
  readonly perMinute: number
}

export type FloodSampling = {
  /** Remembers the kind of an event that was accepted while the limit was nearly reached. */
  observe(subject: FloodSubject, event: EventBytes): void
  /**
   * Decides about an event over its limit.
   * @returns `first` or `again` when the event is accepted as one of the first of a kind that is new in this flood;
   * `known` when its kind was seen; `uninspected` when the budget for inspection is used up
   */
  decide(subject: FloodSubject, event: EventBytes): 'first' | 'again' | 'known' | 'uninspected'
}

type Flood = {
  lastMs: number
  /** The project whose fingerprints are remembered. */
  readonly groupingId: string
  /** Cheap print → fingerprint. */
  readonly prints: Map<string, string>
  /** Fingerprint → number of its first events that were accepted. */
  readonly kinds: Map<string, number>
  readonly extra: Allowance
  readonly printed: Allowance
  readonly fingerprinted: Allowance
}

/**
 * Flood sampling: a flood must not hide the first events of new problems (docs/decisions/rate-limits.md). Each process
 * remembers only events that arrived while a limit was nearly reached.
 */
export function createFloodSampling(nowMs: () => number): FloodSampling {
  const floods = new Map<string, Flood>()
  const printed = new Allowance(1_000)
  const fingerprinted = new Allowance(1_000)

  const floodOf = ({ projectId, grouping }: FloodSubject): Flood => {
    const ms = nowMs()
    let flood = floods.get(projectId)
    if (flood !== undefined && flood.groupingId === grouping.id && ms - flood.lastMs < FORGET_MS) {
      flood.lastMs = ms
      return flood
    }
    flood = {
      lastMs: ms,
      groupingId: grouping.id,
      prints: new Map(),
      kinds: new Map(),
      extra: new Allowance(60_000),
      printed: new Allowance(1_000),
      fingerprinted: new Allowance(1_000),
    }
    floods.delete(projectId)
    for (const [oldest, { lastMs }] of floods) {
      if (floods.size < MAX_PROJECTS && ms - lastMs < FORGET_MS) break
      floods.delete(oldest)
    }
    floods.set(projectId, flood)
    return flood
  }

  const mayLook = (all: Allowance, own: Allowance, bytes: number, max: number): boolean =>
    own.has(nowMs(), max * PROJECT_SHARE) && all.take(nowMs(), bytes, max) && own.take(nowMs(), bytes, max)

  /** @returns the fingerprint; null when it cannot be computed, or not within the budget */
  const kindOf = (flood: Flood, subject: FloodSubject, event: EventBytes): string | null => {
    const bytes = event.end - event.start
    if (!mayLook(printed, flood.printed, bytes, PRINT_BYTES)) return null
    const print = eventPrint(event.decoded, event.start, event.end, subject.grouping.reads)
    const known = flood.prints.get(print)
    if (known !== undefined) {
      remember(flood.prints, print, known)
      return known
    }
    if (!mayLook(fingerprinted, flood.fingerprinted, bytes, FINGERPRINT_BYTES)) return null
    const kind = fingerprintOf(subject.grouping, event)
    if (kind !== null) remember(flood.prints, print, kind)
    return kind
  }

  return {
    observe(subject, event) {
      const flood = floodOf(subject)
      const kind = kindOf(flood, subject, event)
      if (kind !== null) remember(flood.kinds, kind, FIRST_EVENTS)
    },
    decide(subject, event) {
      const flood = floodOf(subject)
      const kind = kindOf(flood, subject, event)
      if (kind === null) return 'uninspected'
      const count = flood.kinds.get(kind) ?? 0
      if (count >= FIRST_EVENTS) return 'known'
      const max = Math.max(MIN_EXTRA, Math.floor(subject.perMinute / EXTRA_SHARE))
      if (!flood.extra.take(nowMs(), 1, max)) return 'uninspected'
      remember(flood.kinds, kind, count + 1)
      return count === 0 ? 'first' : 'again'
    },
  }
}

/** Newest last; the oldest are dropped above the maximum. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key)
  for (const oldest of map.keys()) {
    if (map.size < MAX_KINDS) break
    map.delete(oldest)
  }
  map.set(key, value)
}

/** A budget that is renewed in each period. */
class Allowance {
  readonly #periodMs: number
  #period = -1
  #used = 0

  constructor(periodMs: number) {
    this.#periodMs = periodMs
  }

  /** Returns false when the budget is used up; the last use may exceed it. */
  take(ms: number, amount: number, max: number): boolean {
    if (!this.has(ms, max)) return false
    this.#used += amount
    return true
  }

  has(ms: number, max: number): boolean {
    const period = Math.floor(ms / this.#periodMs)
    if (period !== this.#period) {
      this.#period = period
      this.#used = 0
    }
    return this.#used < max
  }
}

/** The issue the event would belong to, computed from its bytes; null when digestion will reject it as invalid. */
function fingerprintOf(grouping: FloodGrouping, { decoded, start, end }: EventBytes): string | null {
  let value: unknown
  try {
    value = parseGuarded(decoded, start, end).value
  } catch {
    return null
  }
  if (!isRecord(value)) return null
  return grouping.fingerprintOf(normalizeEvent(value, NOWHERE))
}

const NOWHERE = {
  eventId: '0'.repeat(32),
  receivedAt: new Date(0),
  sentAt: null,
  clientIp: null,
  userAgent: null,
  onlyDecisive: true,
}
