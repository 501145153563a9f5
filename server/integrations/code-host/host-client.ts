import type { App } from '../../platform/context/app.ts'
import { EgressError, type EgressResponse } from '../../platform/context/egress.ts'
import type { HostClient, Vendor } from './vendor.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/** The REST API of a code host, for one repository. */

/** Lists of files of a large repository have several MiB. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
const TIMEOUT_MS = 20_000
const MAX_ERROR_CHARACTERS = 200
/** A code host that names no time is asked again after a minute; one that names a later one than this, after it. */
const DEFAULT_WAIT_MS = 60_000
const MAX_WAIT_MS = 3_600_000

/**
 * Why the code host gave no answer that can be used. The message is for members. `refused`: the token is not accepted,
 * which only a member can mend; `limited`: it limits our requests until `until`; `failed`: it may work later.
 */
export class HostError extends Error {
  readonly kind: 'refused' | 'limited' | 'failed'
  readonly until: Date | null

  constructor(kind: HostError['kind'], message: string, until: Date | null = null) {
    super(message)
    this.name = 'HostError'
    this.kind = kind
    this.until = until
  }
}

type Access = {
  readonly vendor: Vendor
  readonly repositoryUrl: string
  readonly token: string
  readonly group: string
}

export function hostClient(app: App, access: Access, signal?: AbortSignal): HostClient {
  const { vendor, repositoryUrl } = access
  return {
    repositoryUrl,
    async get(path, schema) {
      const answer = await send(app, access, vendor.apiUrl(repositoryUrl, path), signal)
      if (answer.status === 404 || answer.status === 422) return null
      if (answer.status !== 200) throw refusalOf(app, vendor, answer)
      if (!answer.bodyComplete) throw new HostError('failed', `The answer of ${vendor.label} is too long.`)
      const parsed = schema.safeParse(readJsonText(answer.body))
      if (!parsed.success)
        throw new HostError(
          'failed',
          `${vendor.label} answers in a form that Faultline does not know. Check the address of the repository.`,
        )
      return parsed.data
    },
  }
}

async function send(
  app: App,
  { vendor, token, group }: Access,
  url: string,
  signal?: AbortSignal,
): Promise<EgressResponse> {
  try {
    return await app.egress.request({
      url,
      method: 'GET',
      headers: {
        accept: 'application/json',
        'user-agent': `Faultline/${app.config.version}`,
        ...vendor.tokenHeaders(token),
      },
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_ANSWER_BYTES,
      group,
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    throw new HostError('failed', `${vendor.label} cannot be reached: ${error.message} (${error.code}).`)
  }
}

function refusalOf(app: App, vendor: Vendor, answer: EgressResponse): HostError {
  const header = (name: string) => answer.headers.find(([given]) => given.toLowerCase() === name)?.[1]
  const { status } = answer
  const said = sentenceOf(answer)
  const text = `${vendor.label} answered ${status}${said === '' ? '' : `: ${said}`}`
  // GitHub answers 403, too, when its limit is reached; its second limit names only a time to wait.
  const isLimited =
    status === 429 ||
    (status === 403 && (header('x-ratelimit-remaining') === '0' || header('retry-after') !== undefined))
  if (isLimited) return new HostError('limited', text, endOfLimit(app.clock.now(), header))
  if (status === 401 || status === 403) return new HostError('refused', text)
  return new HostError('failed', text)
}

/** When the code host may be asked again, by the headers of an answer that limits. */
export function endOfLimit(now: Date, header: (name: string) => string | undefined): Date {
  const afterSeconds = Number(header('retry-after'))
  const resetSeconds = Number(header('x-ratelimit-reset') ?? header('ratelimit-reset'))
  const waitMs =
    Number.isFinite(afterSeconds) && afterSeconds > 0
      ? afterSeconds * 1000
      : Number.isFinite(resetSeconds)
        ? resetSeconds * 1000 - now.getTime()
        : DEFAULT_WAIT_MS
  return new Date(now.getTime() + Math.min(Math.max(waitMs, 1_000), MAX_WAIT_MS))
}

/** The error that the body names, on one line. */
function sentenceOf({ body }: EgressResponse): string {
  const parsed = readJsonText(body)
  if (typeof parsed !== 'object' || parsed === null) return ''
  const said = 'message' in parsed ? parsed.message : 'error' in parsed ? parsed.error : ''
  if (typeof said !== 'string') return ''
  return said
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_ERROR_CHARACTERS)
}
