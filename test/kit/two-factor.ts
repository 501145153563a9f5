import { TOTP, Secret } from 'otpauth'
import type { App } from '#server/platform/context/app.ts'
import { setUpTwoFactor } from '#server/identity/two-factor/set-up-two-factor.ts'
import { verifyTwoFactor } from '#server/identity/two-factor/verify-two-factor.ts'
import { readAccessToken } from '#server/identity/auth/access-token.ts'
import type { Person } from './members.ts'

/** The authenticator app of a user. */
export type AuthenticatorApp = {
  /** The code of a time, by default of now. */
  code(at?: Date): string
}

export function authenticatorApp(app: App, otpauthUrl: string): AuthenticatorApp {
  const secret = Secret.fromBase32(new URL(otpauthUrl).searchParams.get('secret') ?? '')
  return { code: (at = app.clock.now()) => TOTP.generate({ secret, timestamp: at.getTime() }) }
}

/** Turns on two-factor authentication. The user's sessions end; the returned person has the new one. */
export async function enrol(
  app: App,
  person: Person,
): Promise<{ person: Person; phone: AuthenticatorApp; backupCodes: readonly string[] }> {
  const { otpauthUrl, backupCodes } = await setUpTwoFactor(app, person.actor, undefined)
  const phone = authenticatorApp(app, otpauthUrl)
  const tokens = await verifyTwoFactor(app, person.actor, phone.code())
  const { sid } = await readAccessToken(app, tokens.accessToken)
  const cookie = `svc_access=${tokens.accessToken}; svc_refresh=${tokens.refreshToken}`
  return { person: { ...person, actor: { ...person.actor, sessionId: sid }, tokens, cookie }, phone, backupCodes }
}

/** Turns on two-factor authentication without ending a session. */
export async function insertVerifiedFactor(app: App, person: Person): Promise<AuthenticatorApp> {
  const { otpauthUrl } = await setUpTwoFactor(app, person.actor, undefined)
  await app.db
    .updateTable('totp_factors')
    .set({ verified_at: app.clock.now(), enrolled_step: 0 })
    .where('user_id', '=', person.actor.userId)
    .execute()
  return authenticatorApp(app, otpauthUrl)
}
