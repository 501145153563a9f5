import type { FastifyError } from 'fastify'
import type { z } from 'zod'
import { AppError, notFound, type ErrorCode } from '../kernel/errors.ts'
import { databaseAway, isDatabaseAway } from '../storage/pool.ts'

/** The only mapping of error codes to HTTP statuses. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported_media: 415,
  rate_limited: 429,
  unavailable: 503,
}

export type ErrorAnswer = {
  readonly status: number
  readonly body: { readonly error: string; readonly [field: string]: unknown }
  readonly headers: Readonly<Record<string, string>>
  /** A bug: the caller logs it with its stack. */
  readonly unexpected: boolean
}

/** The response for a thrown value. For an unexpected one it holds no details. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof AppError) {
    const retry = error.details.retryAfterSeconds
    return {
      status: STATUS[error.code],
      body: { error: error.message, ...error.details.body },
      headers: { ...error.details.headers, ...(retry === undefined ? {} : { 'retry-after': String(retry) }) },
      unexpected: false,
    }
  }
  if (isDatabaseAway(error)) return errorAnswer(databaseAway(error))
  if (isOfStaticFiles(error)) return errorAnswer(notFound('Page'))
  const fastify = fastifyRefusal(error)
  if (fastify !== null) return { status: 400, body: { error: fastify }, headers: {}, unexpected: false }
  return {
    status: 500,
    body: {
      error:
        'An internal error occurred and was logged. Quote the request id (header x-request-id) when you report it.',
    },
    headers: {},
    unexpected: true,
  }
}

/** A path to a folder, or with empty segments, dots or a NUL; before the dashboard is built, a NUL is a bad request. */
const isOfStaticFiles = (error: unknown): boolean =>
  error instanceof Error &&
  'statusCode' in error &&
  (error.statusCode === 403 || error.statusCode === 404 || (error.statusCode === 400 && !('code' in error)))

/** Sentences for errors that Fastify throws before a handler runs; null for other errors. */
function fastifyRefusal(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  const { code } = error as Partial<FastifyError>
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return 'The body is larger than 1 MiB.'
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return 'The body does not have the length of its Content-Length header.'
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return 'The body is not valid JSON.'
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return 'Send the body as application/json.'
    case 'FST_ERR_BAD_URL':
      return 'The address of the request is malformed.'
    default:
      return null
  }
}

/** One sentence for a validation error, which names the field. */
export function validationSentence(error: z.ZodError): string {
  const issue = error.issues[0]
  if (issue === undefined) return 'The request is invalid.'
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.slice(0, 3).join(', ')
    return `Unknown field${issue.keys.length > 1 ? 's' : ''}: ${path === '' ? keys : `${path}.${keys}`}.`
  }
  if (path === '' && issue.code === 'invalid_type' && issue.expected === 'object')
    return 'Send a JSON object as the body.'
  const message = issue.message.endsWith('.') ? issue.message : `${issue.message}.`
  const last = String(issue.path.at(-1))
  // In a list, name the place too: "match must be …" could be any of two hundred rules.
  if (issue.path.some((part) => typeof part === 'number') && message.startsWith(`${last} `))
    return `${path}${message.slice(last.length)}`
  if (path === '' || message.startsWith(`${path} `) || message.startsWith(`${last} `)) return message
  return `${path}: ${message}`
}
