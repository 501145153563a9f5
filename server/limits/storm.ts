import type { StormGrouping } from '../grouping/storm-grouping.ts'
import { isRecord } from '../protocol/json.ts'
import { parseGuarded } from '../protocol/json-guard.ts'
import { normalizeEvent } from '../protocol/normalize.ts'
import { eventPrint } from './event-print.ts'

/** So many events of a kind first seen during a storm get through. */
const FIRST_EVENTS = 5
/** …and so many a minute of all kinds together: this share of the key's limit, at least so many. */
const EXTRA_SHARE = 10
const LEAST_EXTRA = 20
/** Bytes of events looked at per second, roughly and in full: about 120 and 30 ms of the thread (35 and 37 µs per 20 kB). */
const PRINT_BYTES = 64 * 1024 * 1024
const FINGERPRINT_BYTES = 16 * 1024 * 1024
/** Largest share of these one project may use: its storm must not hide the news of others. */
const PROJECT_SHARE = 0.5
/** Remembered per project, and projects. */
const MOST_KINDS = 5_000
const MOST_PROJECTS = 500
/** A storm is over when nothing of it came for so long; what it knew is forgotten. */
const FORGET_MS = 10 * 60_000

/** An event as it stands in a decoded body. */
export type EventBytes = { readonly decoded: Buffer; readonly start: number; readonly end: number }

export type StormSubject = {
  readonly projectId: string
  readonly grouping: StormGrouping
  /** The limit of its key, items per minute. */
  readonly perMinute: number
}

export type Storms = {
  /** An event within its limit while that is getting short: its kind is nothing new from now on. */
  note(subject: StormSubject, event: EventBytes): void
  /**
   * Judges an event over its limit.
   * @returns `first` and `again` when it should get through, as one of the first of a kind this storm had not seen;
   * `known` when its kind was seen; `unseen` when nobody had the time to look
   */
  judge(subject: StormSubject, event: EventBytes): 'first' | 'again' | 'known' | 'unseen'
}

type Storm = {
  lastMs: number
  /** Whose fingerprints it knows. */
  readonly groupingId: string
  /** Cheap print → fingerprint. */
  readonly prints: Map<string, string>
  /** Fingerprint → how many of its first events were let through. */
  readonly kinds: Map<string, number>
  readonly extra: Allowance
  readonly printed: Allowance
  readonly fingerprinted: Allowance
}

/**
 * What a flood must not hide: the first events of problems nobody has seen (docs/decisions/rate-limits.md). Memory of one process and
 * of nothing but events that came while a limit was short.
 */
export function createStorms(nowMs: () => number): Storms {
  const storms = new Map<string, Storm>()
  const printed = new Allowance(1_000)
  const fingerprinted = new Allowance(1_000)

  const stormOf = ({ projectId, grouping }: StormSubject): Storm => {
    const ms = nowMs()
    let storm = storms.get(projectId)
    if (storm !== undefined && storm.groupingId === grouping.id && ms - storm.lastMs < FORGET_MS) {
      storm.lastMs = ms
      return storm
    }
    storm = {
      lastMs: ms,
      groupingId: grouping.id,
      prints: new Map(),
      kinds: new Map(),
      extra: new Allowance(60_000),
      printed: new Allowance(1_000),
      fingerprinted: new Allowance(1_000),
    }
    storms.delete(projectId)
    for (const [oldest, { lastMs }] of storms) {
      if (storms.size < MOST_PROJECTS && ms - lastMs < FORGET_MS) break
      storms.delete(oldest)
    }
    storms.set(projectId, storm)
    return storm
  }

  const mayLook = (all: Allowance, own: Allowance, bytes: number, most: number): boolean =>
    own.has(nowMs(), most * PROJECT_SHARE) && all.take(nowMs(), bytes, most) && own.take(nowMs(), bytes, most)

  /** @returns the fingerprint; null when it cannot be told, or not now */
  const kindOf = (storm: Storm, subject: StormSubject, event: EventBytes): string | null => {
    const bytes = event.end - event.start
    if (!mayLook(printed, storm.printed, bytes, PRINT_BYTES)) return null
    const print = eventPrint(event.decoded, event.start, event.end, subject.grouping.reads)
    const known = storm.prints.get(print)
    if (known !== undefined) {
      remember(storm.prints, print, known)
      return known
    }
    if (!mayLook(fingerprinted, storm.fingerprinted, bytes, FINGERPRINT_BYTES)) return null
    const kind = fingerprintOf(subject.grouping, event)
    if (kind !== null) remember(storm.prints, print, kind)
    return kind
  }

  return {
    note(subject, event) {
      const storm = stormOf(subject)
      const kind = kindOf(storm, subject, event)
      if (kind !== null) remember(storm.kinds, kind, FIRST_EVENTS)
    },
    judge(subject, event) {
      const storm = stormOf(subject)
      const kind = kindOf(storm, subject, event)
      if (kind === null) return 'unseen'
      const count = storm.kinds.get(kind) ?? 0
      if (count >= FIRST_EVENTS) return 'known'
      const most = Math.max(LEAST_EXTRA, Math.floor(subject.perMinute / EXTRA_SHARE))
      if (!storm.extra.take(nowMs(), 1, most)) return 'unseen'
      remember(storm.kinds, kind, count + 1)
      return count === 0 ? 'first' : 'again'
    },
  }
}

/** Newest last; the oldest go when there are too many. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key)
  for (const oldest of map.keys()) {
    if (map.size < MOST_KINDS) break
    map.delete(oldest)
  }
  map.set(key, value)
}

/** What one may use up in a period; anew in the next. */
class Allowance {
  readonly #periodMs: number
  #period = -1
  #used = 0

  constructor(periodMs: number) {
    this.#periodMs = periodMs
  }

  /** Takes while anything is left: the last may go over. */
  take(ms: number, amount: number, most: number): boolean {
    if (!this.has(ms, most)) return false
    this.#used += amount
    return true
  }

  has(ms: number, most: number): boolean {
    const period = Math.floor(ms / this.#periodMs)
    if (period !== this.#period) {
      this.#period = period
      this.#used = 0
    }
    return this.#used < most
  }
}

/** The issue the event would go to, as far as its bytes say; null for what digestion will call invalid. */
function fingerprintOf(grouping: StormGrouping, { decoded, start, end }: EventBytes): string | null {
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
