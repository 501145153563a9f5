/**
 * Whether a project takes data from a browser's Origin. Only browsers send one; a request without it passes.
 * @param allowed origins (`https://shop.example`), hosts (`shop.example`), either with `*.` before the host for every
 * host below it, or `*`; empty allows all
 */
export function isAllowedOrigin(allowed: readonly string[], origin: string | undefined): boolean {
  if (allowed.length === 0 || origin === undefined) return true
  const given = origin.toLowerCase()
  // Browsers send a scheme, a host and a port; anything else has no host.
  const host = /^[a-z][a-z0-9+.-]*:\/\/([^/\\?#@\s]+)$/.exec(given)?.[1] ?? ''
  return allowed.some((entry) => {
    const pattern = entry.toLowerCase().replace(/\/$/, '')
    if (pattern === '*') return true
    const scheme = /^[a-z][a-z0-9+.-]*:\/\//.exec(pattern)?.[0] ?? ''
    if (scheme !== '' && !given.startsWith(scheme)) return false
    const name = pattern.slice(scheme.length)
    if (host === '') return false
    if (!name.startsWith('*.')) return host === name
    return host.endsWith(name.slice(1)) && host.length > name.length - 1
  })
}
