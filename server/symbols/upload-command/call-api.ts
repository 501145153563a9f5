import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, type Call, callServer, otherServer, type Target } from './call-server.ts'
import { UploadError } from './plan.ts'

/** The service refuses one file; others may be sent. */
export class FileRefusedError extends UploadError {}

const RETRIES = 3
const FIRST_WAIT_MS = 500
/** A longer `Retry-After` is a refusal. */
const MAX_WAIT_MS = 60_000
const PASSING = new Set([429, 502, 503, 504])

/**
 * Calls the API, up to four times while the network fails or the service has no room.
 * @param say tells about retries
 * @returns a successful answer
 * @throws UploadError with the line that says what to do; FileRefusedError
 */
export async function callApi(target: Target, call: Call, say: (line: string) => void): Promise<Answer> {
  for (let retry = 0; ; retry++) {
    const outcome = await attempt(target, call)
    if (outcome instanceof UploadError) throw outcome
    if ('status' in outcome) return outcome
    const waitMs = outcome.waitMs ?? FIRST_WAIT_MS * 2 ** retry
    if (retry === RETRIES || waitMs > MAX_WAIT_MS) throw new UploadError(outcome.line)
    say(`${outcome.reason}; trying again in ${waitMs / 1_000} s (${retry + 1} of ${RETRIES})`)
    await wait(waitMs)
  }
}

/** Why to try again, and the line if that is over. */
type Passing = { readonly line: string; readonly reason: string; readonly waitMs: number | null }

async function attempt(target: Target, call: Call): Promise<Answer | UploadError | Passing> {
  const { url } = target
  let answer: Answer
  try {
    answer = await callServer(target, call)
  } catch (error) {
    const problem = networkProblem(error, url)
    if (problem === null) throw error
    const { line, mayPass } = problem
    return mayPass ? { line, reason: line.replace(/\. .*/su, ''), waitMs: null } : new UploadError(line)
  }
  const { status, error, waitMs } = answer
  if (status >= 200 && status < 300) return answer
  if (PASSING.has(status)) {
    const said = error === null ? '' : ` (${error})`
    return {
      line: `The service answers ${status}${said}. Run this again later.`,
      reason: `the service answers ${status}`,
      waitMs,
    }
  }
  return refusal(answer, url)
}

/** @returns the line about an answer that another try would not change */
function refusal({ status, error, location }: Answer, url: URL): UploadError {
  if (status >= 300 && status < 400) {
    const to = location !== null && URL.canParse(location, url) ? `: ${new URL(location, url).origin}` : ''
    return new UploadError(`${url.href} has moved${to}. Set that address with --url.`)
  }
  // A proxy refuses large bodies in its own words.
  if (status === 413)
    return new FileRefusedError(
      error ?? 'A proxy before the service refuses a file of this size (413). Raise its limit of request bodies.',
    )
  if (error === null) return new UploadError(otherServer(url))
  if (status === 401) return new UploadError(`The token is not accepted. ${error}`)
  if (status === 403) return new UploadError(`The token may not do this. ${error}`)
  if (status === 400) return new FileRefusedError(error)
  if (status >= 500) return new UploadError(`The service failed (${status}): ${error}`)
  return new UploadError(error)
}

/** Sentences about a server that cannot be reached. */

const CERTIFICATE =
  /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)/u
const NO_HTTP = /^(?:HPE_|EPROTO|ERR_SSL_)/u
const BROKEN = /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|ECONNABORTED)$/u

/**
 * @returns what to do, and whether it may help to try again; null when the error is none of the network
 */
function networkProblem(error: unknown, url: URL): { readonly line: string; readonly mayPass: boolean } | null {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
  // Errors of the file that is sent have its path.
  if (code === null || (error instanceof Error && 'path' in error)) return null
  const { origin, hostname } = url
  if (CERTIFICATE.test(code))
    return {
      line: `The certificate of ${origin} is not accepted (${code}). Correct the certificate, or name the file of your authority in NODE_EXTRA_CA_CERTS.`,
      mayPass: false,
    }
  if (NO_HTTP.test(code))
    return { line: `${origin} does not speak ${url.protocol.slice(0, -1)} (${code}). Correct --url.`, mayPass: false }
  if (code === 'ENOTFOUND')
    return { line: `No server has the name ${hostname}. Correct --url, or check the network.`, mayPass: false }
  const what = BROKEN.test(code) ? 'breaks the connection' : 'is not reachable'
  return {
    line: `${origin} ${what} (${code}). Check --url, the network, and that the service runs; then run this again.`,
    mayPass: true,
  }
}
