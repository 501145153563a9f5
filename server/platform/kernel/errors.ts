/** The closed set of failures that a response can report; only `service/http/errors.ts` maps them to statuses. */
export type ErrorCode =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media'
  | 'rate_limited'
  | 'unavailable'

/** Fields that an error response may have beside its message. */
type ErrorDetails = {
  /** For `rate_limited` and `unavailable`: when to try again, whole seconds ≥ 1. */
  readonly retryAfterSeconds?: number
  /** Further response headers, for example `RateLimit-Policy`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/**
 * An expected failure. The message is one sentence a user can act on. It is sent to the client as written, so it must
 * not contain a secret, a query or a path.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AppError'
    this.code = code
    this.details = details
  }
}

/** 400. Name the field when there is one: `invalid('name must not be empty.')`. */
export const invalid = (message: string): AppError => new AppError('invalid', message)

/** 401. */
export const unauthenticated = (message = 'Log in to continue.'): AppError => new AppError('unauthenticated', message)

/** 403. Only for objects of the actor's organisation; use `notFound` for others. */
export const forbidden = (message: string): AppError => new AppError('forbidden', message)

/** 404. The same message whether the object is missing or belongs to another organisation. */
export const notFound = (thing: string): AppError => new AppError('not_found', `${thing} not found.`)

/** 409. */
export const conflict = (message: string): AppError => new AppError('conflict', message)

/** 413, intake and uploads only. */
export const tooLarge = (message: string): AppError => new AppError('too_large', message)

/** 429. */
export const rateLimited = (
  message: string,
  retryAfterSeconds: number,
  headers: Readonly<Record<string, string>> = {},
): AppError =>
  new AppError('rate_limited', message, { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterSeconds)), headers })

/** 503. */
export const unavailable = (message: string, retryAfterSeconds = 5, cause?: unknown): AppError =>
  new AppError('unavailable', message, { retryAfterSeconds, cause })

/** The message of whatever was thrown. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))
