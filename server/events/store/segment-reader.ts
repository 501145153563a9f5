import type { ObjectStore } from '../../platform/objects/object-store.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** Where the body of a block is. */
export type SegmentPlace = {
  readonly projectId: string
  readonly day: string
  readonly segmentId: string
  readonly start: number
  readonly end: number
}

export const segmentKey = ({ day, segmentId }: Pick<SegmentPlace, 'day' | 'segmentId'>): string =>
  `blocks/${day}/${segmentId}`

/** Limits of one request: a page waits for it. */
export const READ_LIMITS = { attempts: 2, timeoutMs: 4_000, retryScale: 0.2 }
const MAX_CACHE_BYTES = 48 * 1024 * 1024
/** A project that reads many old events leaves the others their part. */
const MAX_PROJECT_BYTES = MAX_CACHE_BYTES / 4
const MAX_READS = 6
/** After a failure: no page waits for a store that is away. */
const PAUSE_MS = 10_000

/** Reads bodies of blocks from object storage, through a cache in memory. */
export class SegmentReader {
  readonly #store: ObjectStore
  readonly #nowMs: () => number
  /** By key of the block, in the order of their last use. */
  readonly #cache = new Map<string, { readonly projectId: string; readonly body: Buffer }>()
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0
  #awayUntilMs = -Infinity

  /** @param nowMs never decreases */
  constructor(store: ObjectStore, nowMs: () => number) {
    this.#store = store
    this.#nowMs = nowMs
  }

  /** Bodies in the order of their places; null for those that cannot be read now. */
  async read(places: readonly SegmentPlace[]): Promise<(Buffer | null)[]> {
    const bodies: (Buffer | null)[] = places.map(() => null)
    let next = 0
    const work = async (): Promise<void> => {
      for (let index = next++; index < places.length; index = next++) {
        const place = places[index]
        if (place !== undefined) bodies[index] = await this.#readOne(place)
      }
    }
    await Promise.all(Array.from({ length: Math.min(MAX_READS, places.length) }, work))
    return bodies
  }

  async #readOne(place: SegmentPlace): Promise<Buffer | null> {
    const key = `${place.segmentId} ${place.start}`
    const known = this.#cache.get(key)
    if (known !== undefined) {
      this.#cache.delete(key)
      this.#cache.set(key, known)
      return known.body
    }
    if (this.#nowMs() < this.#awayUntilMs) return null
    try {
      const body = await this.#store.get(segmentKey(place), place)
      // A store that ignores ranges returns the bodies of other events too.
      if (body === null || body.length !== place.end - place.start) return null
      this.#keep(key, place.projectId, body)
      return body
    } catch {
      this.#awayUntilMs = this.#nowMs() + PAUSE_MS
      return null
    }
  }

  #keep(key: string, projectId: string, body: Buffer): void {
    if (this.#cache.has(key)) return
    this.#cache.set(key, { projectId, body })
    this.#count(projectId, body.length)
    for (const [other, one] of this.#cache) {
      const isOver = this.#bytes > MAX_CACHE_BYTES
      const isOwnOver = (this.#bytesOf.get(projectId) ?? 0) > MAX_PROJECT_BYTES
      if (!isOver && !isOwnOver) return
      if (!isOver && one.projectId !== projectId) continue
      this.#cache.delete(other)
      this.#count(one.projectId, -one.body.length)
    }
  }

  #count(projectId: string, bytes: number): void {
    this.#bytes += bytes
    const left = (this.#bytesOf.get(projectId) ?? 0) + bytes
    if (left > 0) this.#bytesOf.set(projectId, left)
    else this.#bytesOf.delete(projectId)
  }
}

const readers = new WeakMap<Connection, SegmentReader>()

/** Lets reads over this pool follow blocks into object storage. Transactions have none: no network call inside. */
export const followSegments = (db: Connection, reader: SegmentReader): void => void readers.set(db, reader)

export const findSegmentReader = (on: Connection): SegmentReader | undefined => readers.get(on)
