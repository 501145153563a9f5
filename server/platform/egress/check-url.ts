import { isIP } from 'node:net'
import { invalid } from '../kernel/errors.ts'
import { judgeAddress, type AddressRules } from './judge-address.ts'

export type UrlRules = AddressRules & {
  /** EGRESS_ALLOW_HTTP. */
  readonly httpOpen: boolean
}

const MAX_URL_LENGTH = 2_048

/** Services that take commands as text lines, or hold data: SSH, SMTP, POP, IMAP, databases. */
const DENIED_PORTS = new Set([22, 25, 110, 143, 465, 587, 993, 995, 3306, 5432, 6379, 9200, 11_211, 27_017])

export const urlPort = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

/** Without the brackets of an IPv6 address. */
export const urlHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/**
 * Checks the target of a URL by its text. WHATWG parsing turns all spellings of an IPv4 address into one.
 * @throws AppError `invalid`
 */
export function checkUrl(text: string, rules: UrlRules): URL {
  if (text.length > MAX_URL_LENGTH) throw invalid(`The URL must have at most ${MAX_URL_LENGTH} characters.`)
  // The parser would remove them.
  if (/[\p{Cc}\s]/u.test(text)) throw invalid('The URL must contain no spaces and no control characters.')
  const url = URL.parse(text)
  if (url === null) throw invalid('The URL is not valid. It must look like https://example.com/path.')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalid('The URL must begin with https://.')
  if (url.protocol === 'http:' && !rules.httpOpen)
    throw invalid('The URL must begin with https://: this installation does not send to http addresses.')
  // An empty name, as in https://@example.com, too.
  if (/^https?:[/\\]*[^/\\?#]*@/i.test(text)) throw invalid('The URL must hold no user name and no password.')
  if (text.includes('#')) throw invalid('The URL must have no fragment (the part after #).')
  // "example.com." is the same host as "example.com", but certificates and virtual hosts know only the second.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  if (url.hostname.split('.').includes('')) throw invalid('The host name of the URL is not valid.')
  const port = urlPort(url)
  if (port === 0 || DENIED_PORTS.has(port)) throw invalid(`The URL must not use port ${port}.`)
  const host = urlHost(url)
  // RFC 6761: localhost and the names below it are loopback addresses.
  const address = isIP(host) !== 0 ? host : /(^|\.)localhost$/.test(host) ? '127.0.0.1' : null
  const refusal = address === null ? null : judgeAddress(address, rules)
  if (refusal !== null) throw invalid(`The URL points to ${refusal}, which this installation does not allow.`)
  return url
}
