import ipaddr from 'ipaddr.js'

/** One address or a range of them, as users write it: `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`. */
export type AddressRange = (address: string) => boolean

type Parsed = ipaddr.IPv4 | ipaddr.IPv6

/** IPv4 inside IPv6 (`::ffff:192.0.2.1`) counts as IPv4; null when the text is no address. */
function parseAddress(text: string): Parsed | null {
  if (text.length > 64) return null
  const bare = text.includes('%') ? text.slice(0, text.indexOf('%')) : text
  // Short and octal forms (`127.1`, `010.0.0.1`) are ambiguous, so they are refused.
  if (!bare.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(bare)) return null
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null
}

/** Null when the text is neither an address nor a range, or when the range contains all addresses. */
export function parseAddressRange(text: string): AddressRange | null {
  const slash = text.indexOf('/')
  const network = parseAddress(slash < 0 ? text : text.slice(0, slash))
  if (network === null) return null
  const maxBits = network.kind() === 'ipv4' ? 32 : 128
  const bits = slash < 0 ? maxBits : /^\d{1,3}$/.test(text.slice(slash + 1)) ? Number(text.slice(slash + 1)) : -1
  if (bits < 1 || bits > maxBits) return null
  return (address) => {
    const parsed = parseAddress(address)
    return parsed !== null && parsed.kind() === network.kind() && parsed.match(network, bits)
  }
}

/** `127.0.0.0/8` and `::1`. */
export function isLoopbackAddress(address: string): boolean {
  return parseAddress(address)?.range() === 'loopback'
}
