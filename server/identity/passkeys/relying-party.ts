import { isIP } from 'node:net'
import { isLoopbackHost, type Config } from '../../config/config.ts'

/** Which site passkeys belong to, as authenticators know it. */
type RelyingParty = {
  readonly id: string
  /** Pages whose answers are accepted. */
  readonly origins: readonly string[]
}

/**
 * The host of PUBLIC_URL. Browsers accept no address of digits: where PUBLIC_URL is a loopback address, passkeys are those
 * of `localhost`, and the dashboard must be opened with that name.
 */
export function relyingParty({ publicUrl }: Pick<Config, 'publicUrl'>): RelyingParty {
  const { origin, hostname } = new URL(publicUrl)
  if (!isAddress(hostname) || !isLoopbackHost(hostname.replaceAll(/[[\]]/g, '')))
    return { id: hostname, origins: [origin] }
  return { id: 'localhost', origins: [origin.replace(`//${hostname}`, '//localhost')] }
}

/** Whether browsers can use passkeys here: not where PUBLIC_URL is a public address of digits. */
export const offersPasskeys = (config: Pick<Config, 'publicUrl'>): boolean => !isAddress(relyingParty(config).id)

const isAddress = (hostname: string): boolean => isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0
