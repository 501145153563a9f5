import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** X.509 certificates for tests, made while they run (RFC 5280): node:crypto reads certificates but makes none. */

export type Certificate = { readonly key: string; readonly cert: string }

export type CertificateOptions = {
  /** Subject alternative names: host names and IPv4 addresses. Default `localhost` and 127.0.0.1. */
  readonly names?: readonly string[]
  readonly notBefore?: Date
  readonly notAfter?: Date
}

export type TestAuthority = {
  /** PEM, to trust. */
  readonly cert: string
  issue(options?: CertificateOptions): Certificate
}

const der = (tag: number, ...parts: (Buffer | readonly number[])[]): Buffer => {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts)
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value))
const TRUE = der(0x01, [0xff])

const ECDSA_WITH_SHA256 = sequence(der(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]))
const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(der(0x06, [0x55, 0x04, 0x03]), text(0x0c, name))))
/** GeneralizedTime. */
const time = (date: Date): Buffer => text(0x18, `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`)
/** id-ce-… */
const extension = (id: number, critical: boolean, value: Buffer): Buffer =>
  sequence(der(0x06, [0x55, 0x1d, id]), ...(critical ? [TRUE] : []), der(0x04, value))
const alternativeNames = (names: readonly string[]): Buffer =>
  sequence(...names.map((name) => (isIPv4(name) ? der(0x87, name.split('.').map(Number)) : text(0x82, name))))
const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(bytes.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`

type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
const pair = (): Pair => generateKeyPairSync('ec', { namedCurve: 'P-256' })

let serial = 0

function certificate(issuer: string, issuerKey: KeyObject, subject: string, subjectKey: KeyObject, rest: Buffer[]) {
  serial += 1
  const [validity, ...extensions] = rest
  const content = sequence(
    der(0xa0, der(0x02, [2])),
    der(0x02, [1, serial >> 8, serial & 255]),
    ECDSA_WITH_SHA256,
    commonName(issuer),
    validity ?? Buffer.alloc(0),
    commonName(subject),
    subjectKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  return pem(sequence(content, ECDSA_WITH_SHA256, der(0x03, [0], sign('sha256', content, issuerKey))))
}

const DAY_MS = 86_400_000
const validityOf = (options: CertificateOptions): Buffer =>
  sequence(
    time(options.notBefore ?? new Date(Date.now() - DAY_MS)),
    time(options.notAfter ?? new Date(Date.now() + DAY_MS)),
  )
const pkcs8 = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const DEFAULT_NAMES = ['localhost', '127.0.0.1']

/** An authority that a test trusts with its `cert`. */
export function testAuthority(name = 'Faultline test authority'): TestAuthority {
  const authority = pair()
  return {
    cert: certificate(name, authority.privateKey, name, authority.publicKey, [
      validityOf({}),
      extension(0x13, true, sequence(TRUE)),
    ]),
    issue(options = {}) {
      const own = pair()
      const names = options.names ?? DEFAULT_NAMES
      const cert = certificate(name, authority.privateKey, 'Faultline test server', own.publicKey, [
        validityOf(options),
        extension(0x11, false, alternativeNames(names)),
      ])
      return { key: pkcs8(own.privateKey), cert }
    },
  }
}

/** A certificate that only itself vouches for. */
export function selfSigned(options: CertificateOptions = {}): Certificate {
  const own = pair()
  const name = 'Faultline test server'
  const cert = certificate(name, own.privateKey, name, own.publicKey, [
    validityOf(options),
    extension(0x11, false, alternativeNames(options.names ?? DEFAULT_NAMES)),
  ])
  return { key: pkcs8(own.privateKey), cert }
}
