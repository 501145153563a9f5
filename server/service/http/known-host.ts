import type { Config } from '../../config.ts'
import { isLoopbackAddress } from '../../platform/kernel/address-range.ts'
import { forbidden } from '../../platform/kernel/errors.ts'

/**
 * In relaxed mode pages and API answer only to names of this installation: a page of another site whose name is made to
 * resolve to loopback (DNS rebinding) would otherwise read and change everything as the member whose browser shows it.
 */
export function knownHosts(config: Config): (host: string | undefined) => void {
  if (config.mode === 'strict') return () => {}
  const own = new Set([config.publicUrl, ...config.allowedOrigins].map((url) => new URL(url).hostname))
  return (host) => {
    const url = `http://${host ?? ''}`
    const name = URL.canParse(url) ? new URL(url).hostname : ''
    const bare = name.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
    if (own.has(name) || bare === 'localhost' || isLoopbackAddress(bare)) return
    throw forbidden(
      `This installation does not answer to the host name "${name}". Set PUBLIC_URL to the address that browsers use.`,
    )
  }
}
