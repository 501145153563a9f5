import { invalid } from '../../platform/kernel/errors.ts'
import type { Provider } from './code-host.api.ts'
import { publicProvider, findVendor } from './vendors.ts'

const EXAMPLE = 'https://github.com/acme/shop'

/**
 * The address of a repository as browsers show it, without `.git` and what follows the name.
 * @throws AppError invalid with what to do
 */
export function readRepositoryUrl(given: string, provider: Provider | undefined): { url: string; provider: Provider } {
  const text = given.trim()
  if (/^(?:git@|ssh:|git:)/.test(text))
    throw invalid(`repository_url must be the address that a browser shows, such as ${EXAMPLE}, not one for git.`)
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid(`repository_url must be an address such as ${EXAMPLE}.`)
  if (url.username !== '' || url.password !== '')
    throw invalid('repository_url must hold no user name and no token. Send the token as access_token.')
  const known = publicProvider(url.host.toLowerCase())
  const chosen = known ?? provider
  if (chosen === undefined) throw invalid(`Say with provider what runs at ${url.host}: github or gitlab.`)
  if (provider !== undefined && known !== undefined && provider !== known)
    throw invalid(`${url.host} is ${findVendor(known).label}; leave provider out.`)
  const parts = (url.pathname.split('/-/')[0] ?? '').split('/').filter((part) => part !== '')
  // GitLab has groups in groups; at GitHub what follows the second part is a page of the repository.
  const named = chosen === 'github' ? parts.slice(0, 2) : parts
  const path = named.join('/').replace(/\.git$/, '')
  if (named.length < 2 || !/^[\w.~/-]+$/.test(path))
    throw invalid(`repository_url must name an owner and a repository, such as ${EXAMPLE}.`)
  return { url: `${url.origin}/${path}`, provider: chosen }
}
