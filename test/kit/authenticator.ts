import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** An authenticator in software: creates passkeys and answers challenges as a browser with a security key does. */

export type AlgorithmName = 'ES256' | 'EdDSA' | 'RS256'

/** How an answer differs from an honest one. */
export type Deviation = {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly userVerified?: boolean
  readonly userPresent?: boolean
  readonly counter?: number
  readonly backedUp?: boolean
  readonly userHandle?: string | null
  readonly credentialId?: string
  readonly crossOrigin?: boolean
  /** The algorithm that the key says it is for, as COSE numbers them. */
  readonly alg?: number
  /** Changes the bytes of the attestation object. */
  readonly attestation?: (bytes: Buffer) => Buffer
  readonly signature?: (bytes: Buffer) => Buffer
}

type CreationOptions = {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
}
type RequestOptions = { readonly challenge: string; readonly rpId: string }

export type SoftPasskey = {
  readonly credentialId: string
  /** What `navigator.credentials.get` returns. The counter grows with each answer, from `counter` on. */
  answer(options: RequestOptions, over?: Deviation): Answer
}

type Answer = ReturnType<typeof asAnswer>

export type SoftAuthenticator = {
  /** What `navigator.credentials.create` returns, and the passkey. */
  create(
    options: CreationOptions,
    over?: Deviation,
  ): { readonly response: ReturnType<typeof asRegistration>; readonly passkey: SoftPasskey }
}

export function softAuthenticator(
  origin: string,
  { algorithm = 'ES256', counts = true }: { algorithm?: AlgorithmName; counts?: boolean } = {},
): SoftAuthenticator {
  return {
    create(options, over = {}) {
      const { privateKey, publicKey } = keyPair(algorithm)
      const id = randomBytes(32)
      const cose = coseKey(algorithm, publicKey, over.alg)
      let counter = counts ? 1 : 0
      const attested = Buffer.concat([Buffer.alloc(16), uint16(id.length), id, cose])
      const authData = authenticatorData(over.rpId ?? options.rp.id, over.counter ?? counter, over, attested)
      const attestation = cborMap([
        ['fmt', cborText('none')],
        ['attStmt', cborMap([])],
        ['authData', cborBytes(authData)],
      ])
      const credentialId = over.credentialId ?? id.toString('base64url')
      const response = asRegistration(
        credentialId,
        clientData('webauthn.create', options.challenge, origin, over),
        over.attestation?.(attestation) ?? attestation,
      )
      const passkey: SoftPasskey = {
        credentialId,
        answer(request, deviation = {}) {
          if (counts) counter++
          const data = authenticatorData(deviation.rpId ?? request.rpId, deviation.counter ?? counter, deviation)
          const client = clientData('webauthn.get', request.challenge, origin, deviation)
          const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
          const signature = sign(algorithm === 'EdDSA' ? null : 'sha256', signed, privateKey)
          return asAnswer(deviation.credentialId ?? credentialId, {
            clientDataJSON: client.toString('base64url'),
            authenticatorData: data.toString('base64url'),
            signature: (deviation.signature?.(signature) ?? signature).toString('base64url'),
            userHandle: deviation.userHandle === undefined ? options.user.id : deviation.userHandle,
          })
        },
      }
      return { response, passkey }
    },
  }
}

const asRegistration = (id: string, clientDataJSON: Buffer, attestationObject: Buffer) => ({
  id,
  rawId: id,
  type: 'public-key' as const,
  clientExtensionResults: {},
  authenticatorAttachment: 'platform',
  response: {
    clientDataJSON: clientDataJSON.toString('base64url'),
    attestationObject: attestationObject.toString('base64url'),
    transports: ['internal', 'hybrid'],
  },
})

type Assertion = {
  readonly clientDataJSON: string
  readonly authenticatorData: string
  readonly signature: string
  readonly userHandle: string | null
}

const asAnswer = (id: string, response: Assertion) => ({
  id,
  rawId: id,
  type: 'public-key' as const,
  clientExtensionResults: {},
  response,
})

function clientData(type: string, challenge: string, origin: string, over: Deviation): Buffer {
  return Buffer.from(
    JSON.stringify({
      type: over.type ?? type,
      challenge: over.challenge ?? challenge,
      origin: over.origin ?? origin,
      crossOrigin: over.crossOrigin ?? false,
    }),
  )
}

const FLAGS = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08, backedUp: 0x10, attested: 0x40 }

function authenticatorData(rpId: string, counter: number, over: Deviation, attested?: Buffer): Buffer {
  const flags =
    (over.userPresent === false ? 0 : FLAGS.userPresent) |
    (over.userVerified === false ? 0 : FLAGS.userVerified) |
    (over.backedUp === true ? FLAGS.backupEligible | FLAGS.backedUp : 0) |
    (attested === undefined ? 0 : FLAGS.attested)
  const counted = Buffer.alloc(4)
  counted.writeUInt32BE(counter)
  const rpIdHash = createHash('sha256').update(rpId).digest()
  return Buffer.concat([rpIdHash, Buffer.from([flags]), counted, attested ?? Buffer.alloc(0)])
}

function keyPair(algorithm: AlgorithmName): { privateKey: KeyObject; publicKey: KeyObject } {
  switch (algorithm) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 'EdDSA':
      return generateKeyPairSync('ed25519')
    case 'RS256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 })
  }
}

const ALG = { ES256: -7, EdDSA: -8, RS256: -257 } as const

/** RFC 9052: the key as a map of numbers. */
function coseKey(algorithm: AlgorithmName, publicKey: KeyObject, alg: number = ALG[algorithm]): Buffer {
  const jwk = publicKey.export({ format: 'jwk' })
  const part = (text: string | undefined) => cborBytes(Buffer.from(text ?? '', 'base64url'))
  switch (algorithm) {
    case 'ES256':
      return cborMap([
        [1, cborInt(2)],
        [3, cborInt(alg)],
        [-1, cborInt(1)],
        [-2, part(jwk.x)],
        [-3, part(jwk.y)],
      ])
    case 'EdDSA':
      return cborMap([
        [1, cborInt(1)],
        [3, cborInt(alg)],
        [-1, cborInt(6)],
        [-2, part(jwk.x)],
      ])
    case 'RS256':
      return cborMap([
        [1, cborInt(3)],
        [3, cborInt(alg)],
        [-1, part(jwk.n)],
        [-2, part(jwk.e)],
      ])
  }
}

// CBOR (RFC 8949), as much as an authenticator writes.

function cborHead(major: number, n: number): Buffer {
  if (n < 24) return Buffer.from([(major << 5) | n])
  if (n < 256) return Buffer.from([(major << 5) | 24, n])
  return Buffer.concat([Buffer.from([(major << 5) | 25]), uint16(n)])
}

function uint16(n: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(n)
  return bytes
}

const cborInt = (n: number): Buffer => (n >= 0 ? cborHead(0, n) : cborHead(1, -1 - n))
const cborBytes = (bytes: Buffer): Buffer => Buffer.concat([cborHead(2, bytes.length), bytes])
const cborText = (text: string): Buffer => Buffer.concat([cborHead(3, Buffer.byteLength(text)), Buffer.from(text)])
const cborMap = (entries: readonly (readonly [string | number, Buffer])[]): Buffer =>
  Buffer.concat([
    cborHead(5, entries.length),
    ...entries.flatMap(([key, value]) => [typeof key === 'number' ? cborInt(key) : cborText(key), value]),
  ])
