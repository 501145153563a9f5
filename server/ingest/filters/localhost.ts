import { isLoopbackAddress } from '../../platform/kernel/address-range.ts'

/** Whether a host is `localhost`, a subdomain of it, or a loopback address. */
export function isLocalHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === 'localhost.localdomain' || isLoopbackAddress(name)
  )
}

/** Whether the host of a URL is local; false for null and for text that is not a URL. */
export function isLocalUrl(url: string | null): boolean {
  if (url === null) return false
  const authority = /^[a-z][a-z0-9+.-]{0,20}:\/\/(?:[^/?#@]{0,200}@)?(\[[0-9a-f:.]{2,45}\]|[^/?#:]{1,255})/i.exec(
    url,
  )?.[1]
  return authority !== undefined && isLocalHost(authority.replace(/^\[|\]$/g, ''))
}
