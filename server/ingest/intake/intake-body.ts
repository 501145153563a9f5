import type { IncomingMessage } from 'node:http'
import type { ContentEncoding } from '../../platform/kernel/inflate.ts'
import { invalid, rateLimited, tooLarge } from '../../platform/kernel/errors.ts'
import {
  type DecodedBody,
  decodeLargeBody,
  decodePrefix,
  decodeSmallBody,
  MAX_WIRE_BYTES,
  permittedBytes,
} from '../../events/protocol/decode.ts'
import { MAX_HEADER_BYTES } from '../../events/protocol/envelope.ts'

/** The client disconnected before its body was complete: nothing is stored and no response is possible. */
export class AbortedError extends Error {}

/** Bytes of a large body that must arrive in each of these intervals: it holds memory that others need. */
const MIN_RATE = { bytes: 80 * 1024, perMs: 5_000 }
/** Maximum decoded bytes of all large bodies in memory; small ones take only a few milliseconds each. */
const MAX_DECODING_BYTES = 100 * 1024 * 1024
const MAX_DECODINGS_WAITING = 200

export type Bodies = {
  /** Counts what a request holds for an address, a key or an organisation, from now on. */
  own(request: IncomingMessage, owner: string): void
  /**
   * Receives a body.
   * @param max bytes on the wire; 20 MiB unless the endpoint allows more
   * @throws AppError `too_large` above that, `rate_limited` while too much is being received, `invalid` when a large body
   *   arrives too slowly; AbortedError
   */
  read(request: IncomingMessage, max?: number): Promise<Buffer>
  /**
   * Receives the body up to the end of its first line, and returns that line decoded; {@link Bodies.read} reads the rest.
   * @throws AppError `invalid` when the first line is longer than 64 KiB; AbortedError
   */
  readFirstLine(request: IncomingMessage, encoding: ContentEncoding): Promise<Buffer>
  /**
   * Decodes a body (Content-Encoding) and passes it to `look`. Large bodies are decoded off the event loop, a few at a
   * time.
   * @param look must not keep the bytes: their memory is freed afterwards
   */
  decode<T>(raw: Buffer, encoding: ContentEncoding, look: (decoded: Buffer) => T): T | Promise<T>
  /** Ends the wait for a body that takes too long: `read` throws `invalid`. @returns whether it was waiting */
  giveUp(request: IncomingMessage): boolean
  /** Ends the counting of this request's bytes; call it once, after the request. */
  release(request: IncomingMessage): void
  /**
   * Frees the memory of a large body immediately; otherwise rejected bodies accumulate until the next garbage collection.
   * Only for a request of which nothing is stored or being stored.
   */
  discard(request: IncomingMessage): void
}

type Partial = {
  chunks: Buffer[]
  /** Buffer for a large body of announced length: joining its chunks at the end would need twice the memory. */
  readonly room: Buffer<ArrayBuffer> | null
  bytes: number
  ended: boolean
  /** While more of it is awaited. */
  giveUp?: (() => void) | undefined
  readonly held: Held
}

const ROOM_FROM_BYTES = 256 * 1024
const ROOM_UP_TO_BYTES = 100 * 1024 * 1024

/** Untouched memory is not resident, so a client that announces a body and sends none costs nothing. */
function roomFor(request: IncomingMessage): Buffer<ArrayBuffer> | null {
  const announced = Number(request.headers['content-length'] ?? 0)
  return announced >= ROOM_FROM_BYTES && announced <= ROOM_UP_TO_BYTES ? Buffer.allocUnsafeSlow(announced) : null
}

export function createBodies(limits?: BufferLimits, minRate = MIN_RATE): Bodies {
  const shares = new BufferShares(limits)
  let decoding = 0
  const waiting: (() => void)[] = []
  const partials = new WeakMap<IncomingMessage, Partial>()

  const partialOf = (request: IncomingMessage): Partial => {
    let partial = partials.get(request)
    if (partial === undefined)
      partials.set(
        request,
        (partial = {
          chunks: [],
          room: roomFor(request),
          bytes: 0,
          ended: false,
          held: { bytes: 0, owners: [] },
        }),
      )
    return partial
  }

  /** Feeds chunks to `enough` until it returns true or the body ends. */
  const receive = (
    request: IncomingMessage,
    partial: Partial,
    enough: (() => boolean) | null,
    max: number,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      if (partial.ended) return resolve()
      let check: NodeJS.Timeout | undefined
      const checkRate = (): void => {
        let checkedBytes = partial.bytes
        check = setInterval(() => {
          if (partial.bytes - checkedBytes < minRate.bytes) {
            stop()
            reject(tooSlow())
          }
          checkedBytes = partial.bytes
        }, minRate.perMs)
        check.unref()
      }
      const stop = (): void => {
        clearInterval(check)
        partial.giveUp = undefined
        request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
        request.pause()
      }
      const onData = (chunk: Buffer): void => {
        if (!shares.take(partial.held, chunk.length)) {
          stop()
          return reject(rateLimited('Too many large requests at once. Try again in a few seconds.', 5))
        }
        if (partial.room === null) partial.chunks.push(chunk)
        else chunk.copy(partial.room, partial.bytes)
        partial.bytes += chunk.length
        // Most bodies are small and need no timer.
        if (check === undefined && partial.bytes > ROOM_FROM_BYTES) checkRate()
        if (partial.bytes > max) {
          stop()
          return reject(bodyTooLarge(max))
        }
        if (enough?.() === true) {
          stop()
          resolve()
        }
      }
      const onEnd = (): void => {
        partial.ended = true
        stop()
        resolve()
      }
      const onGone = (): void => {
        stop()
        reject(new AbortedError('the client disconnected'))
      }
      if (request.destroyed) return onGone()
      partial.giveUp = () => {
        stop()
        reject(tooSlow())
      }
      request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
      request.resume()
    })

  const whole = ({ chunks, room, bytes }: Partial): Buffer => {
    if (room !== null) return room.subarray(0, bytes)
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, bytes)
  }

  const admitDecoding = (weight: number): Promise<void> | null => {
    if (decoding === 0 || decoding + weight <= MAX_DECODING_BYTES) {
      decoding += weight
      return null
    }
    if (waiting.length >= MAX_DECODINGS_WAITING)
      throw rateLimited('Too many large requests at once. Try again in a few seconds.', 5)
    return new Promise<void>((resolve) => {
      waiting.push(resolve)
    }).then(() => admitDecoding(weight) ?? undefined)
  }

  return {
    own: (request, owner) => shares.own(partialOf(request).held, owner),
    async read(request, max = MAX_WIRE_BYTES) {
      if (Number(request.headers['content-length'] ?? 0) > max) throw bodyTooLarge(max)
      const partial = partialOf(request)
      await receive(request, partial, null, max)
      return whole(partial)
    },
    async readFirstLine(request, encoding) {
      const partial = partialOf(request)
      let line: Buffer | null = null
      let triedBytes = 0
      await receive(
        request,
        partial,
        () => {
          // Tried again only when the received bytes have doubled: otherwise a body that arrives byte by byte is
          // decoded as often.
          if (partial.bytes < triedBytes * 2) return false
          triedBytes = partial.bytes
          const prefix = decodePrefix(whole(partial), encoding, MAX_HEADER_BYTES + 1)
          const end = prefix?.indexOf(0x0a) ?? -1
          if (prefix !== null && end !== -1) line = prefix.subarray(0, end)
          return line !== null || partial.bytes > MAX_HEADER_BYTES
        },
        MAX_WIRE_BYTES,
      )
      if (line !== null) return line
      // An envelope may consist of its first line, without a newline.
      const prefix = partial.ended ? decodePrefix(whole(partial), encoding, MAX_HEADER_BYTES + 1) : null
      const end = prefix?.indexOf(0x0a) ?? -1
      if (prefix !== null && end !== -1) return prefix.subarray(0, end)
      if (prefix === null || prefix.length > MAX_HEADER_BYTES)
        throw invalid('The envelope header is longer than 64 KiB, or cannot be decoded.')
      return prefix
    },
    decode(raw, encoding, look) {
      const small = decodeSmallBody(raw, encoding)
      if (small !== null) return lookAt(small, look)
      if (encoding === 'none') return look(raw)
      const weight = permittedBytes(raw.length)
      const decodeNow = async () => {
        try {
          return lookAt(await decodeLargeBody(raw, encoding), look)
        } finally {
          decoding -= weight
          waiting.shift()?.()
        }
      }
      const admitted = admitDecoding(weight)
      return admitted === null ? decodeNow() : admitted.then(decodeNow)
    },
    giveUp(request) {
      const giveUp = partials.get(request)?.giveUp
      giveUp?.()
      return giveUp !== undefined
    },
    release(request) {
      const partial = partials.get(request)
      if (partial === undefined) return
      shares.release(partial.held)
      partials.delete(request)
    },
    discard(request) {
      partials.get(request)?.room?.buffer.transfer(0)
    },
  }
}

function lookAt<T>(decoded: DecodedBody, look: (decoded: Buffer) => T): T {
  try {
    return look(decoded.bytes)
  } finally {
    decoded.release()
  }
}

export const tooSlow = () => invalid('The body did not arrive in time.')
const bodyTooLarge = (max = MAX_WIRE_BYTES) => tooLarge(`A request must be at most ${max / 1024 / 1024} MiB.`)

/**
 * Memory of bodies that are being received or wait for their commit. Its first part, of each request the first 64 KiB,
 * is enough for events; the other is for large bodies. Of both, clients and projects have a share: who fills it is
 * refused, and no one else.
 */
type BufferLimits = {
  /** Bytes of a request that count as its first ones. */
  readonly smallBytes: number
  readonly small: { readonly total: number; readonly share: number }
  /** One request may exceed a share that no other request uses. */
  readonly large: { readonly total: number; readonly share: number }
}

const MIB = 1024 * 1024

export const BUFFER_LIMITS: BufferLimits = {
  smallBytes: 64 * 1024,
  small: { total: 64 * MIB, share: 16 * MIB },
  large: { total: 192 * MIB, share: 64 * MIB },
}

/** The bytes that a request holds, and their owners: an address, a project key, an organisation. */
export type Held = { bytes: number; readonly owners: string[] }

type Account = { small: number; large: number }

export class BufferShares {
  readonly #limits: BufferLimits
  readonly #accounts = new Map<string, Account>()
  readonly #total: Account = { small: 0, large: 0 }

  constructor(limits: BufferLimits = BUFFER_LIMITS) {
    this.#limits = limits
  }

  /** Counts a request for one more owner, with what it holds. */
  own(held: Held, owner: string): void {
    held.owners.push(owner)
    this.#add(this.#accountOf(owner), this.#partsOf(held.bytes), 1)
  }

  /** Counts further bytes. @returns false when there is no room for them; then nothing is counted */
  take(held: Held, bytes: number): boolean {
    const before = this.#partsOf(held.bytes)
    const after = this.#partsOf(held.bytes + bytes)
    const added = { small: after.small - before.small, large: after.large - before.large }
    const { small, large } = this.#limits
    if (added.small > 0 && this.#total.small + added.small > small.total) return false
    if (added.large > 0 && this.#total.large + added.large > large.total) return false
    const accounts = held.owners.map((owner) => this.#accountOf(owner))
    for (const account of accounts) {
      if (added.small > 0 && account.small + added.small > small.share) return false
      if (added.large > 0 && account.large > before.large && account.large + added.large > large.share) return false
    }
    for (const account of [this.#total, ...accounts]) this.#add(account, added, 1)
    held.bytes += bytes
    return true
  }

  release(held: Held): void {
    const parts = this.#partsOf(held.bytes)
    this.#add(this.#total, parts, -1)
    for (const owner of held.owners.splice(0)) {
      const account = this.#accountOf(owner)
      this.#add(account, parts, -1)
      if (account.small === 0) this.#accounts.delete(owner)
    }
    held.bytes = 0
  }

  #partsOf(bytes: number): Account {
    const small = Math.min(bytes, this.#limits.smallBytes)
    return { small, large: bytes - small }
  }

  #add(account: Account, { small, large }: Account, sign: 1 | -1): void {
    account.small += sign * small
    account.large += sign * large
  }

  #accountOf(owner: string): Account {
    let account = this.#accounts.get(owner)
    if (account === undefined) this.#accounts.set(owner, (account = { small: 0, large: 0 }))
    return account
  }
}
