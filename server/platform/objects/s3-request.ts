import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { S3Settings } from '../../config/object-store.ts'
import type { Clock } from '../kernel/clock.ts'
import { explainFailure, explainRefusal, S3Error, readTag } from './s3-error.ts'

/** One signed request to the operator's store, and its repetition. The address is a setting, so it needs no guarded egress. */
export type S3Request = {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD'
  /** Below the bucket; characters that need no encoding. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer<ArrayBuffer>
}

export type S3Options = {
  readonly settings: S3Settings
  readonly bucket: string
  readonly clock: Clock
  readonly signal?: AbortSignal
  /** How often a request is tried. */
  readonly attempts?: number
  /** Maximum time of an attempt; of an answer that is streamed, until it begins. */
  readonly timeoutMs?: number
  /** Multiplies the delays between attempts; for tests. */
  readonly retryScale?: number
}

const ATTEMPTS = 7
/** 16 MiB at half a megabit per second. */
const TIMEOUT_MS = 300_000
const FIRST_DELAY_MS = 200
const MAX_DELAY_MS = 15_000

/**
 * Sends a request until it succeeds; waits longer each time, with chance, after answers that may not come again.
 * @param read reads the answer; it belongs to the attempt, so that an answer that is cut off is asked for again
 * @throws S3Error
 */
export async function requestS3<T>(
  options: S3Options,
  request: S3Request,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { attempts = ATTEMPTS, signal } = options
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await attemptOnce(options, request, read)
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof S3Error) || !error.isTransient || attempt >= attempts) throw error
      await waitBefore(attempt, options)
    }
  }
}

/** Waits before the attempt after this one. */
export async function waitBefore(attempt: number, { retryScale = 1, signal }: S3Options): Promise<void> {
  const longest = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) * retryScale
  await delay(longest * (0.5 + Math.random() / 2), undefined, signal === undefined ? {} : { signal })
}

async function attemptOnce<T>(
  options: S3Options,
  request: S3Request,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { settings, bucket, clock, timeoutMs = TIMEOUT_MS } = options
  const { endpoint, region } = settings
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  const signal = options.signal === undefined ? silence.signal : AbortSignal.any([options.signal, silence.signal])
  try {
    const { url, headers } = await sign(options, request)
    const response = await fetch(url, {
      method: request.method,
      headers,
      redirect: 'manual',
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    })
    if (response.ok) return await read(response)
    const text = await response.text()
    throw explainRefusal(
      { status: response.status, headers: response.headers, text },
      { bucket, endpoint, region, now: clock.now() },
    )
  } catch (error) {
    if (error instanceof S3Error) throw error
    options.signal?.throwIfAborted()
    throw explainFailure(silence.signal.aborted ? silence.signal.reason : error, { endpoint })
  } finally {
    clearTimeout(timer)
  }
}

async function sign(
  { settings, bucket, clock }: S3Options,
  request: S3Request,
): Promise<{ url: URL; headers: Headers }> {
  const { endpoint, region, accessKeyId, secretAccessKey, pathStyle } = settings
  const url = new URL(endpoint)
  const base = url.pathname.replace(/\/$/, '')
  if (pathStyle) url.pathname = `${base}/${bucket}/${request.path}`
  else {
    url.hostname = `${bucket}.${url.hostname}`
    url.pathname = `${base}/${request.path}`
  }
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value)
  return new AwsV4Signer({
    method: request.method,
    url: url.href,
    headers: {
      ...request.headers,
      // The store compares what it received with it.
      'x-amz-content-sha256': createHash('sha256')
        .update(request.body ?? '')
        .digest('hex'),
    },
    accessKeyId,
    secretAccessKey,
    service: 's3',
    region,
    datetime: clock
      .now()
      .toISOString()
      .replaceAll(/[:-]|\.\d{3}/g, ''),
  }).sign()
}

/** The XML of an answer. Completing and copying send 200 at once, and may report an error in the body. */
export async function readXml(response: Response): Promise<string> {
  const text = await response.text()
  if (!/<Error>/.test(text)) return text
  const code = readTag(text, 'Code') ?? 'Unknown'
  throw new S3Error(code, `The store could not finish the request (${code}). Look at its state.`, true)
}
