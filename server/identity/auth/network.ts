import ipaddr from 'ipaddr.js'

/** The network that limits count an address by: /24 of IPv4, /56 of IPv6. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown'
  const address = ipaddr.process(ip)
  const bits = address.kind() === 'ipv4' ? 24 : 56
  const bytes = address.toByteArray().map((byte, index) => (index < bits / 8 ? byte : 0))
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`
}
