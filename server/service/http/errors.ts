import type { FastifyError } from 'fastify'
import type { z } from 'zod'
import { AppError, notFound, type ErrorCode } from '../../platform/kernel/errors.ts'
import { databaseAway, isDatabaseAway } from '../../platform/storage/pool.ts'

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

type ErrorAnswer = {
  readonly status: number
  readonly body: { readonly error: string }
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
      body: { error: error.message },
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

/** Zod's own message as the end of a sentence; null for a message of our own schemas. */
function ownMessage(issue: z.core.$ZodIssue): string | null {
  if (!/^(?:Invalid (?:input|option)|Too (?:small|big)): expected /.test(issue.message)) return null
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing'
      // A parameter of the address that repeats arrives as a list.
      return Array.isArray(issue.input) && issue.expected === 'string'
        ? 'must be one string, not several'
        : `must be ${named(issue.expected)}`
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${JSON.stringify(issue.values[0])}`
        : `must be one of ${issue.values.slice(0, MAX_VALUES).map(String).join(', ')}${issue.values.length > MAX_VALUES ? ', …' : ''}`
    case 'too_small':
      return `must ${sizeWord(issue.origin)} ${boundWord(issue, 'at least', 'more than')} ${issue.minimum}${unitOf(issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${sizeWord(issue.origin)} ${boundWord(issue, 'at most', 'less than')} ${issue.maximum}${unitOf(issue.origin, issue.maximum)}`
    default:
      return null
  }
}

const MAX_VALUES = 30
const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}
const named = (expected: string): string => TYPE_NAMES[expected] ?? `of type ${expected}`
const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' }
const sizeWord = (origin: string): string => (UNITS[origin] === undefined ? 'be' : 'have')
const boundWord = (of: { exact?: boolean; inclusive?: boolean }, included: string, excluded: string): string =>
  of.exact === true ? 'exactly' : of.inclusive === false ? excluded : included
const unitOf = (origin: string, size: number | bigint): string =>
  UNITS[origin] === undefined ? '' : ` ${UNITS[origin]}${Number(size) === 1 ? '' : 's'}`

/** One sentence for a validation error, which names the field. Parse with `reportInput`. */
export function validationSentence(error: z.ZodError): string {
  // A field with a wrong name is also one that is missing; its name says what to do.
  const issue = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0]
  if (issue === undefined) return 'The request is invalid.'
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.slice(0, 3).join(', ')
    return `Unknown field${issue.keys.length > 1 ? 's' : ''}: ${path === '' ? keys : `${path}.${keys}`}.`
  }
  if (path === '' && issue.code === 'invalid_type' && issue.expected === 'object')
    return 'Send a JSON object as the body.'
  const ours = ownMessage(issue)
  if (ours !== null && path !== '') return `${path} ${ours}.`
  const message = issue.message.endsWith('.') ? issue.message : `${issue.message}.`
  const last = String(issue.path.at(-1))
  // In a list, name the place too: "match must be …" could be any of two hundred rules.
  if (issue.path.some((part) => typeof part === 'number') && message.startsWith(`${last} `))
    return `${path}${message.slice(last.length)}`
  if (path === '' || message.startsWith(`${path} `) || message.startsWith(`${last} `)) return message
  return `${path}: ${message}`
}
