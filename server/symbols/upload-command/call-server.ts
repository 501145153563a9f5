import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import type { Form } from './form.ts'
import { UploadError } from './plan.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/** The service that is called, and with which API key. */
export type Target = {
  /** With a slash at the end. */
  readonly url: URL
  readonly token: string
}

export type Call = {
  readonly method: 'GET' | 'POST'
  /** Path and query below the address, without a slash in front. */
  readonly path: string
  readonly form?: Form
}

/** A response, as far as the API defines it. */
export type Answer = {
  readonly status: number
  /** Undefined when it is no JSON. */
  readonly body: unknown
  /** The sentence of an error of the API. */
  readonly error: string | null
  readonly location: string | null
  /** When to try again. */
  readonly waitMs: number | null
}

/** Answers of the API are smaller; a page of another server may be larger and is not read further. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const CONNECT_MS = 30_000
/** The server stores and compresses a file of 512 MiB before it answers. */
const SILENCE_MS = 300_000

/** Sends a request and reads the response. @throws Error of the network, with a code */
export async function callServer({ url, token }: Target, { method, path, form }: Call): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const request = send(new URL(path, url), {
    method,
    // Also while it connects, which `setTimeout` of the request does not bound.
    timeout: CONNECT_MS,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'user-agent': 'faultline-upload',
      ...(form === undefined ? {} : { 'content-type': form.contentType, 'content-length': form.sizeBytes }),
    },
  })
  request.on('timeout', () => void request.destroy(new NetworkError('ETIMEDOUT')))
  request.on('socket', (socket) => {
    const connected = (): void => void socket.setTimeout(SILENCE_MS)
    if (socket.connecting) socket.once('connect', connected)
    else connected()
  })
  request.on('error', reject)
  // The service may answer before it has the whole file: nothing further is sent then.
  request.on('response', (response) => {
    const answered = readAnswer(response).finally(() => void (request.writableFinished || request.destroy()))
    answered.then(resolve, reject)
  })
  if (form === undefined) request.end()
  else pipeline(form.content(), request).catch(reject)
  return promise
}

/** A connection that this side ended. */
class NetworkError extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

const ErrorBody = z.object({ error: z.string() })

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = []
  let bytes = 0
  const content: AsyncIterable<Buffer> = response
  for await (const part of content) {
    bytes += part.length
    if (bytes > MAX_ANSWER_BYTES) break
    parts.push(part)
  }
  const { statusCode: status = 0, headers } = response
  const body = bytes > MAX_ANSWER_BYTES ? undefined : readJsonText(Buffer.concat(parts).toString('utf8'))
  return {
    status,
    body,
    error: ErrorBody.safeParse(body).data?.error ?? null,
    location: headers.location ?? null,
    waitMs: waitOf(headers['retry-after']),
  }
}

/** `Retry-After` has seconds or a date (RFC 9110, section 10.2.3). */
function waitOf(header: string | undefined): number | null {
  if (header === undefined) return null
  const ms = /^\d+$/u.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) && ms >= 0 ? ms : null
}

/** @throws UploadError when the answer is none of the API */
export function parseAnswer<T>(schema: z.ZodType<T>, { body }: Answer, { url }: Target): T {
  const parsed = schema.safeParse(body)
  if (!parsed.success) throw new UploadError(otherServer(url))
  return parsed.data
}

/** @returns the line about a server that answers in another form */
export const otherServer = (url: URL): string =>
  `The server at ${url.href} is no Faultline, or a proxy answers for it. Correct --url.`
