import ipaddr from 'ipaddr.js'

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Returns whether an address is in one of the ranges (addresses or CIDR, the syntax of TRUSTED_PROXIES). */
export function addressMatcher(texts: readonly string[]): (address: string) => boolean {
  const ranges = texts.map((text): Range => {
    if (text.includes('/')) return ipaddr.parseCIDR(text)
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  })
  return (address) => {
    if (ranges.length === 0 || !ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match([range, bits] as never))
  }
}

/** Returns the client's address: the socket's peer or, behind trusted proxies, the right-most untrusted hop. */
export function clientAddressReader(
  trustedProxies: readonly string[],
): (peer: string | undefined, forwardedFor: string | string[] | undefined) => string {
  const trusted = addressMatcher(trustedProxies)
  return (peer, forwardedFor) => {
    let address = plain(peer ?? '')
    if (!trusted(address) || forwardedFor === undefined) return address
    const hops = (Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor)
      .split(',')
      .map((hop) => plain(withoutPort(hop.trim())))
    for (let i = hops.length - 1; i >= 0 && trusted(address); i--) {
      const hop = hops[i] ?? ''
      if (!ipaddr.isValid(hop)) break
      address = hop
    }
    return address
  }
}

/** `::ffff:10.0.0.1` → `10.0.0.1`; other addresses unchanged. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}

/** Some proxies add the port: `203.0.113.5:41000`, `[2001:db8::1]:41000`. */
function withoutPort(hop: string): string {
  const [, v4, v6] = /^(?:([\d.]{7,15}):\d{1,5}|\[([\da-f:.]{2,45})\](?::\d{1,5})?)$/i.exec(hop) ?? []
  return v4 ?? v6 ?? hop
}
