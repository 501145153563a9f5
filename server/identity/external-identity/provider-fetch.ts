import type { CustomFetch } from 'openid-client'
import type { z } from 'zod'
import type { App } from '../../platform/context/app.ts'

/** Documents of providers have a few kilobytes; key sets of large ones 20. */
const MAX_BODY_BYTES = 256 * 1024

/** A provider's answer is wrong or did not come. The message is for owners and the log; it holds no secret. */
export class ProviderError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ProviderError'
  }
}

/** Whether providers may be reached without TLS: on the developer's machine only, whatever EGRESS_ALLOW_HTTP says. */
export const allowsPlainHttp = (app: App): boolean => app.config.mode === 'relaxed'

/** @throws ProviderError when the address is not one that browsers or we may be sent to */
export function checkProviderUrl(app: App, name: string, text: unknown): string {
  const url = typeof text === 'string' ? URL.parse(text) : null
  if (url === null) throw new ProviderError(`The provider announces no ${name}.`)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowsPlainHttp(app)))
    throw new ProviderError(`The provider's ${name} does not begin with https://.`)
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw new ProviderError(`The provider's ${name} must hold no user name, password or fragment.`)
  return url.href
}

/**
 * `fetch` of one exchange with a provider, through the guard of outgoing requests: no redirects, a bounded answer, and one
 * clock for all requests of the exchange.
 * @param group whose connections it uses, such as an organisation
 */
export function providerFetch(app: App, group: string, signal: AbortSignal): CustomFetch {
  return async (url, { method, headers, body }) => {
    checkProviderUrl(app, 'address', url)
    const response = await app.egress.request({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: { ...headers, 'user-agent': `Faultline/${app.config.version}` },
      ...(body == null ? {} : { body: Buffer.from(textOf(body)) }),
      maxBodyBytes: MAX_BODY_BYTES,
      signal,
      group,
    })
    if (!response.bodyComplete)
      throw new ProviderError(`The answer of ${new URL(url).host} is too long or did not end in time.`)
    const hasBody = response.status !== 204 && response.status !== 304
    return new Response(hasBody ? new Uint8Array(response.body) : null, {
      status: response.status,
      headers: response.headers.map(([name, value]): [string, string] => [name, value]),
    })
  }
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new Error('a request to a provider has a body of an unknown kind')
}

/** Reads a document of a provider, which must come with status 200. @throws ProviderError, EgressError */
export async function readJson<T>(
  fetch: CustomFetch,
  url: string,
  schema: z.ZodType<T>,
  what: string,
  headers: Readonly<Record<string, string>> = { accept: 'application/json' },
): Promise<T> {
  const response = await fetch(url, { method: 'GET', headers: { ...headers }, body: null, redirect: 'manual' })
  if (response.status !== 200) throw new ProviderError(`The provider answers ${response.status} for its ${what}.`)
  const parsed = schema.safeParse(await response.json().catch(() => null))
  if (!parsed.success) throw new ProviderError(`The provider's ${what} cannot be read.`)
  return parsed.data
}
