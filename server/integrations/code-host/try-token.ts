import type { App } from '../../platform/context/app.ts'
import { invalid, rateLimited, unavailable } from '../../platform/kernel/errors.ts'
import { hostClient, HostError } from './host-client.ts'
import type { Provider } from './code-host.api.ts'
import { findVendor } from './vendors.ts'

/**
 * Asks the code host for the repository with a token, before it is stored.
 * @returns the default branch
 * @throws AppError invalid (the token is refused, or sees no such repository), rate_limited, unavailable
 */
export async function tryToken(
  app: App,
  {
    provider,
    url,
    token,
    projectId,
  }: { readonly provider: Provider; readonly url: string; readonly token: string; readonly projectId: string },
): Promise<string> {
  const vendor = findVendor(provider)
  const client = hostClient(app, { vendor, repositoryUrl: url, token, group: projectId })
  try {
    const branch = await vendor.readDefaultBranch(client)
    if (branch === '')
      throw invalid(
        `The token sees no repository ${new URL(url).pathname.slice(1)} at ${vendor.label}. Check the address, and let the token read the contents of this repository.`,
      )
    return branch
  } catch (error) {
    if (!(error instanceof HostError)) throw error
    if (error.kind === 'refused')
      throw invalid(
        `The token was not stored. ${error.message}. Make a token that reads the contents of the repository.`,
      )
    if (error.kind === 'limited') throw rateLimited(`The token was not stored. ${error.message}. Try again later.`, 60)
    throw unavailable(`The token was not stored. ${error.message}`, 30)
  }
}
