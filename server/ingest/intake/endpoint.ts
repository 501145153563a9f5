import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { ContentEncoding } from '../../platform/kernel/inflate.ts'
import type { AppError } from '../../platform/kernel/errors.ts'
import type { Taken, takeStore } from './take-items.ts'

/** A request before its body is read. */
export type ArrivalHead = {
  readonly method: string
  /** Parameters of the path; `key` is the public key, if the path has one. */
  readonly params: Readonly<Record<string, string>>
  /** Not decoded. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** Content-Type in lower case without its parameters; empty when there is none. */
  readonly mediaType: string
  readonly encoding: ContentEncoding
  readonly receivedAt: Date
}

/** A request with its body. */
export type Arrival = ArrivalHead & {
  /** As received, still encoded. */
  readonly body: Buffer
  /**
   * The body with its Content-Encoding decoded.
   * @throws AppError as decodeBody
   */
  decoded(): Promise<Buffer>
}

/**
 * An endpoint of the protocol (docs/protocol.md §1.2). Requests of most become envelopes, so that limits, spool, digestion
 * and outcomes handle envelopes only.
 */
export type Endpoint = {
  /** Methods it takes, as the Allow header lists them. */
  readonly methods: string
  /**
   * @param path follows `/api/<number>/`, without slashes around it.
   * @returns its parameters; null when it is another endpoint's
   */
  match(path: string): Readonly<Record<string, string>> | null
  /** Maximum size on the wire; by default the maximum of envelopes. */
  readonly maxWireBytes?: number
  /** Time limit for receiving the body; by default the limit of envelopes. */
  readonly bodyTimeoutMs?: number
  /** Maximum size of one attachment; by default the maximum of envelopes. */
  readonly maxAttachmentBytes?: number
  /**
   * Refuses a request before its body is read, for example by media type.
   * @throws AppError
   */
  check?(head: ArrivalHead): void
  /** Whether the first line of the body may name the key. */
  readonly hasKeyInBody?: true
  /** @returns the body of a request that carries it in its URL, without Content-Encoding; else null */
  bodyInUrl?(head: ArrivalHead): Buffer | null
  /** Whether this request is answered after the checks of its key, origin and address, without storing anything. */
  storesNothing?(head: ArrivalHead): boolean
  /**
   * Makes an envelope of the request; an endpoint without it gets envelopes or has `take`.
   * @returns an uncompressed envelope (events/protocol/envelope.ts)
   * @throws AppError `invalid` when it cannot be read
   */
  toEnvelope?(arrival: Arrival): Promise<Buffer> | Buffer
  /** Stores a request that is no envelope. */
  readonly take?: typeof takeStore
  /** Answers a request whose data is on disk. @returns the status */
  accepted(response: ServerResponse, arrival: ArrivalHead, taken: Taken): number
  /** Whether a rate limit is answered with 429; otherwise dropped items are counted and the request is answered as accepted. */
  readonly announcesLimits: boolean
  /** Answers a refusal if the usual form (answers.ts) does not fit. @returns the status */
  refused?(response: ServerResponse, head: ArrivalHead, error: AppError): number
}
