/** Loaded at first use: it reads certificates and CBOR, which takes 10 MB that most processes never need. */
export const passkeyLibrary = () => import('@simplewebauthn/server')

/** COSE algorithms: Ed25519, ES256, RS256. */
export const ALGORITHMS = [-8, -7, -257]

/** How authenticators know a user: the 16 bytes of the id, base64url. */
export const userHandle = (userId: string): string =>
  Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url')
