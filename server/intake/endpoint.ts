import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { ContentEncoding } from '../kernel/content-encoding.ts'
import type { AppError } from '../kernel/errors.ts'

/** A request to an endpoint beside `envelope` and `store`, before its body is read. */
export type ArrivalHead = {
  readonly method: string
  /** What the path held, by name; `key` is the public key where the path carries it. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Content-Type in lower case without its parameters; empty when there is none. */
  readonly mediaType: string
  readonly encoding: ContentEncoding
  readonly receivedAt: Date
}

/** …and with it. */
export type Arrival = ArrivalHead & {
  /** As it came off the wire. */
  readonly body: Buffer
  /**
   * With its Content-Encoding undone.
   * @throws AppError as decodeBody
   */
  decoded(): Promise<Buffer>
}

/**
 * One of the protocol's smaller endpoints (docs/protocol.md §1.2). Its requests are rewritten as envelopes, so that limits,
 * spool, digestion and outcomes need not know of it.
 */
export type Endpoint = {
  /** Methods it takes, as the Allow header lists them. */
  readonly methods: string
  /** Looks at what follows `/api/<number>/`, without slashes around it; null when that is another endpoint's. */
  match(path: string): Readonly<Record<string, string>> | null
  readonly mostWireBytes: number
  /** Time limit for receiving the body; that of envelopes by default. */
  readonly bodyTimeoutMs?: number
  /** Maximum size of one attachment in bytes; that of envelopes by default. */
  readonly mostAttachmentBytes?: number
  /**
   * Refuses by media type and such, before the body is read.
   * @throws AppError
   */
  judge?(head: ArrivalHead): void
  /**
   * @returns the request as an uncompressed envelope (protocol/write-envelope.ts)
   * @throws AppError `invalid` when it cannot be read
   */
  toEnvelope(arrival: Arrival): Promise<Buffer> | Buffer
  /** Answers a request whose data is on disk. @returns the status */
  accepted(response: ServerResponse, arrival: ArrivalHead, eventId: string | null): number
  /** Whether a rate limit is answered with 429; otherwise dropped items are counted and the request is answered as accepted. */
  readonly announcesLimits: boolean
  /** Answers a refusal where the usual form (answers.ts) does not fit. @returns the status */
  refused?(response: ServerResponse, head: ArrivalHead, error: AppError): number
}
