import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { AddressRange } from '../kernel/address-range.ts'

/** Which addresses the operator opened. */
export type AddressRules = {
  /** EGRESS_ALLOW_CIDRS. */
  readonly allowed: readonly AddressRange[]
  /** 127.0.0.0/8 and ::1, in relaxed mode. */
  readonly loopbackOpen: boolean
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type NamedRange = { readonly network: Address; readonly bits: number; readonly kind: string }

const named = (kind: string, ranges: readonly string[]): NamedRange[] =>
  ranges.map((text) => {
    const [network, bits] = ipaddr.parseCIDR(text)
    return { network, bits, kind }
  })

/** No setting opens these. */
const NEVER: readonly NamedRange[] = [
  ...named('an unspecified address', ['0.0.0.0/8', '::/128']),
  ...named('a link-local address', ['169.254.0.0/16', 'fe80::/10']),
  ...named('a multicast address', ['224.0.0.0/4', 'ff00::/8']),
  ...named('a broadcast address', ['255.255.255.255/32']),
  // Metadata and node services of Azure, Alibaba, Oracle, AWS (all of its prefix) and Google.
  ...named('a metadata address of a cloud', [
    '168.63.129.16/32',
    '100.100.100.200/32',
    '192.0.0.192/32',
    'fd00:c1::a9fe:a9fe/128',
    'fd00:ec2::/32',
    'fd20:ce::254/128',
  ]),
]

const LOOPBACK: readonly NamedRange[] = named('a loopback address', ['127.0.0.0/8', '::1/128'])

/** EGRESS_ALLOW_CIDRS opens these. */
const DENIED: readonly NamedRange[] = [
  ...LOOPBACK,
  ...named('a private address', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']),
  ...named('an address for special use', [
    '192.0.0.0/24',
    '192.88.99.0/24',
    '198.18.0.0/15',
    '240.0.0.0/4',
    '2001::/23',
    '2002::/16',
  ]),
  ...named('an address for documentation', [
    '192.0.2.0/24',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '2001:db8::/32',
    '3fff::/20',
  ]),
]

const GLOBAL_UNICAST = named('', ['2000::/3'])
const NAT64 = named('', ['64:ff9b::/96'])
const LOCAL_NAT64 = named('', ['64:ff9b:1::/48'])

const within = (ranges: readonly NamedRange[], address: Address): NamedRange | undefined =>
  ranges.find(({ network, bits }) => network.kind() === address.kind() && address.match(network, bits))

/**
 * Why no connection may be made to the address, for a sentence ("a loopback address"); null when it may. IPv4 inside IPv6
 * is judged as IPv4. What is not exactly one address is refused, and so is an IPv6 address with a scope (`fe80::1%eth0`).
 */
export function judgeAddress(address: string, rules: AddressRules): string | null {
  if (isIP(address) === 0 || address.includes('%')) return 'not an IP address'
  const parsed = parse(address)
  if (within(NAT64, parsed) !== undefined) return judgeAddress(parsed.toByteArray().slice(12).join('.'), rules)
  if (within(LOCAL_NAT64, parsed) !== undefined) return judgeLocalNat64(parsed.toByteArray(), rules)
  const never = within(NEVER, parsed)
  if (never !== undefined) return never.kind
  if (rules.loopbackOpen && within(LOOPBACK, parsed) !== undefined) return null
  const text = parsed.toString()
  if (rules.allowed.some((contains) => contains(text))) return null
  const denied = within(DENIED, parsed)
  if (denied !== undefined) return denied.kind
  return parsed.kind() === 'ipv6' && within(GLOBAL_UNICAST, parsed) === undefined ? 'an address for special use' : null
}

/** Bytes of the embedded IPv4 address for prefixes of 48, 56, 64 and 96 bits (RFC 6052, 2.2). */
const EMBEDDINGS = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
] as const

/**
 * The length of the prefix inside 64:ff9b:1::/48 is known to its network only, so every IPv4 address that one of them
 * would find must be good. 0.0.0.0/8 means that nothing is embedded there; a translator has no route to it.
 */
function judgeLocalNat64(bytes: readonly number[], rules: AddressRules): string | null {
  const embedded = EMBEDDINGS.map((places) => places.map((place) => bytes[place] ?? 0)).filter(([first]) => first !== 0)
  if (embedded.length === 0) return 'an unspecified address'
  for (const parts of embedded) {
    const refusal = judgeAddress(parts.join('.'), rules)
    if (refusal !== null) return refusal
  }
  return null
}

/** The address in one spelling, IPv4 inside IPv6 as IPv4. */
export const normalAddress = (address: string): string => (isIP(address) === 0 ? address : parse(address).toString())

/** ipaddr.js reads `::192.0.2.1` as `::ffff:192.0.2.1`, another address; so it gets only groups of hex digits. */
function parse(address: string): Address {
  return ipaddr.process(isIP(address) === 4 ? address : new URL(`http://[${address}]`).hostname.slice(1, -1))
}
