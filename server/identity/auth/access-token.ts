import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ROLES, type Role } from '#shared/permissions.ts'
import { ACCESS_TOKEN_ALGORITHM, signingKey, verifyingKey } from './signing-keys.ts'

/** Access tokens: a JWT of 15 minutes that names a session. The role is read from the database, not from the token. */

export const ACCESS_LIFE_SECONDS = 900
const TOKEN_TYPE = 'at+jwt'
/** Clock difference between two servers that is tolerated. */
const SKEW_SECONDS = 5

const Claims = z.object({
  sub: z.string(),
  org: z.string(),
  role: z.enum(ROLES),
  sid: z.uuid(),
  jti: z.string(),
  iat: z.number().int(),
  exp: z.number().int(),
})
type AccessClaims = z.infer<typeof Claims>

const audienceOf = (app: App): string => `${app.config.publicUrl}/api`

type TokenSubject = {
  readonly userId: string
  readonly orgId: string
  readonly role: Role
  readonly sessionId: string
  /** A token expires with its session at the latest. */
  readonly sessionEndsAt: Date
}

/** Signs a token for a session. It is valid for 15 minutes or until the session ends. */
export async function makeAccessToken(app: App, subject: TokenSubject): Promise<string> {
  const { kid, key } = await signingKey(app)
  const now = Math.floor(app.clock.now().getTime() / 1000)
  return new SignJWT({ org: subject.orgId, role: subject.role, sid: subject.sessionId })
    .setProtectedHeader({ alg: ACCESS_TOKEN_ALGORITHM, typ: TOKEN_TYPE, kid })
    .setIssuer(app.config.publicUrl)
    .setAudience(audienceOf(app))
    .setSubject(subject.userId)
    .setJti(newId())
    .setIssuedAt(now)
    .setExpirationTime(Math.min(now + ACCESS_LIFE_SECONDS, Math.floor(subject.sessionEndsAt.getTime() / 1000)))
    .sign(key)
}

/**
 * Verifies the token alone: signature, type, issuer, audience, times. The caller checks that the session is active.
 * @throws AppError unauthenticated
 */
export async function readAccessToken(app: App, token: string): Promise<AccessClaims> {
  if (!isCanonical(token)) throw refused()
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = kid === undefined ? null : await verifyingKey(app, kid)
        if (key === null) throw refused()
        return key
      },
      {
        algorithms: [ACCESS_TOKEN_ALGORITHM],
        typ: TOKEN_TYPE,
        issuer: app.config.publicUrl,
        audience: audienceOf(app),
        requiredClaims: ['sub', 'org', 'role', 'sid', 'jti', 'iat', 'exp'],
        // This option also checks that `iat` is not in the future.
        maxTokenAge: ACCESS_LIFE_SECONDS,
        clockTolerance: SKEW_SECONDS,
        currentDate: app.clock.now(),
      },
    )
    const claims = Claims.safeParse(payload)
    if (!claims.success) throw refused()
    return claims.data
  } catch (error) {
    if (error instanceof errors.JWTExpired) {
      throw unauthenticated('The access token has expired. Refresh the session or log in again.')
    }
    if (error instanceof errors.JOSEError) throw refused()
    throw error
  }
}

/** Base64 has unused bits at its end: accepts only one spelling of a signature. The signature covers the rest. */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

const refused = () => unauthenticated('The access token is not valid. Log in again.')
