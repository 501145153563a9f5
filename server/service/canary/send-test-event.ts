import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { CANARY_PROJECT_NUMBER } from '../../platform/kernel/ids.ts'

/** Whose listener takes the event: this process's own. */
export type OwnListener = {
  readonly host: string
  readonly port: number
  /** Headers that mark the request as the canary's. */
  readonly mark: Readonly<Record<string, string>>
}

const TIMEOUT_MS = 10_000
const MAX_REFUSAL_CHARACTERS = 200

/**
 * Sends an envelope to the intake of this process, as an SDK would. No address that a user typed is involved.
 * @returns null when the intake stored it, else what it answered
 */
export async function sendTestEvent(
  listener: OwnListener,
  publicKey: string,
  envelope: Buffer,
  signal: AbortSignal,
): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>()
  const sending = request(
    {
      host: listener.host,
      port: listener.port,
      method: 'POST',
      path: `/api/${CANARY_PROJECT_NUMBER}/envelope/`,
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        ...listener.mark,
        'content-type': 'application/x-sentry-envelope',
        'content-length': envelope.length,
        'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${publicKey}, sentry_client=faultline.canary/1.0.0`,
      },
    },
    (response) => {
      text(response).then(
        (body) => resolve(response.statusCode === 200 ? null : refusal(response.statusCode, body)),
        reject,
      )
    },
  )
  sending.on('error', reject)
  sending.end(envelope)
  return promise.catch((error: unknown) => short(error instanceof Error ? error.message : String(error)))
}

const refusal = (status: number | undefined, body: string): string => short(`${status ?? '?'}: ${detailIn(body)}`)

/** The intake answers `{"detail": "…"}`. */
function detailIn(body: string): string {
  return /"detail":\s*"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? body
}

const short = (text_: string): string => text_.trim().slice(0, MAX_REFUSAL_CHARACTERS)
