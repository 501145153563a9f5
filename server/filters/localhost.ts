import { isLoopbackAddress } from '../kernel/address-range.ts'

/** `localhost`, a name below it, or a loopback address. */
export function isLocalHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === 'localhost.localdomain' || isLoopbackAddress(name)
  )
}

/** Whether a URL is of this machine; null and text that is no URL are not. */
export function isLocalUrl(url: string | null): boolean {
  if (url === null) return false
  const authority = /^[a-z][a-z0-9+.-]{0,20}:\/\/(?:[^/?#@]{0,200}@)?(\[[0-9a-f:.]{2,45}\]|[^/?#:]{1,255})/i.exec(
    url,
  )?.[1]
  return authority !== undefined && isLocalHost(authority.replace(/^\[|\]$/g, ''))
}
