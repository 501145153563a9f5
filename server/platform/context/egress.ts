export type EgressRequest = {
  /** Checked again, although it passed `checkUrl` when a user typed it. */
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** One wall clock for the whole attempt: until the header line, and again as the end of the body. Default 10,000. */
  readonly timeoutMs?: number
  /** After so many bytes of the body the connection is dropped. Default 64 KiB. */
  readonly maxBodyBytes?: number
  /**
   * Takes the body as it arrives, at most `maxBodyBytes` of it; the response then holds none. It must be fast and must not
   * throw: nothing slows the sender down.
   */
  readonly onBody?: (chunk: Buffer, head: Pick<EgressResponse, 'status' | 'headers'>) => void
  readonly signal?: AbortSignal
  /**
   * On whose behalf it is sent, such as the id of a webhook endpoint. Groups share no connections, and each has the whole
   * bound of connections to an origin. Absent is a group too.
   */
  readonly group?: string
}

/** Null when the step did not happen: on a reused connection, or after an earlier step failed. */
export type EgressTimings = {
  readonly dnsMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  readonly durationMs: number
}

export type EgressResponse = {
  readonly status: number
  /** Names and values as sent, in order, at most 16 KiB. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** False when the body was longer than `maxBodyBytes`, or ended by the timeout, `signal` or a broken connection. */
  readonly bodyComplete: boolean
  readonly timings: EgressTimings
  readonly remoteIp: string | null
}

/**
 * `refused`: by a rule of this service, nothing was sent (`EGRESS_…` codes); `dns`, `connect`, `tls`: that step failed;
 * `timeout` and `aborted`: before the header line; `protocol`: the answer is not HTTP/1.1 that we accept; `reset`: the
 * connection ended before the header line.
 */
export type EgressErrorKind = 'refused' | 'dns' | 'connect' | 'tls' | 'timeout' | 'aborted' | 'protocol' | 'reset'

/** Why a request got no answer. The message is the text of the underlying error, unchanged. */
export class EgressError extends Error {
  readonly kind: EgressErrorKind
  /** For example `CERT_HAS_EXPIRED`, `ECONNREFUSED`, `EGRESS_ADDRESS`. */
  readonly code: string
  readonly timings: EgressTimings
  readonly remoteIp: string | null

  constructor(
    kind: EgressErrorKind,
    code: string,
    message: string,
    timings: EgressTimings,
    remoteIp: string | null,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EgressError'
    this.kind = kind
    this.code = code
    this.timings = timings
    this.remoteIp = remoteIp
  }
}

/** HTTP to addresses that users typed: webhooks, alerts, OIDC issuers, trackers. Nothing else sends to them. */
export type Egress = {
  /** @throws EgressError when there is no answer; every status is an answer, redirects are not followed */
  request(request: EgressRequest): Promise<EgressResponse>
  /**
   * The early check, when a user types an address. A name is judged only when a request connects.
   * @throws AppError `invalid` with a sentence for the user
   */
  checkUrl(text: string): URL
  /** This process listens on the port: no request may connect to it on any address of this machine. */
  protectPort(port: number): void
  /** Ends all connections; running requests fail as `aborted`. */
  close(): Promise<void>
}
