import { call, PasskeyUnused, type AnswerOf } from './call.ts'
import { apiTexts } from './texts.ts'

/** Passkeys: the service's challenge, the browser's dialog, the service's verdict. */

/** The code that talks to the browser; loaded when a passkey is used. */
const library = () => import('@simplewebauthn/browser')

/** Whether the browser has passkeys; it has none on plain http, except on localhost. */
export const hasPasskeys = (): boolean => window.isSecureContext && 'PublicKeyCredential' in window

/** @throws PasskeyUnused, ApiError */
export async function logInWithPasskey(): Promise<AnswerOf<'POST /api/auth/passkeys/login/verify'>> {
  const [{ startAuthentication }, optionsJSON] = await Promise.all([
    library(),
    call('POST /api/auth/passkeys/login/options'),
  ])
  const response = await startAuthentication({ optionsJSON }).catch(unused)
  return call('POST /api/auth/passkeys/login/verify', { body: { response } })
}

/**
 * Registers a passkey of this device or of another one.
 * @param password the user's, where the session is older than the service permits
 * @throws PasskeyUnused, ApiError
 */
export async function addPasskey(
  name: string,
  password?: string,
): Promise<AnswerOf<'POST /api/auth/passkeys/register/verify'>> {
  const [{ startRegistration }, optionsJSON] = await Promise.all([
    library(),
    call('POST /api/auth/passkeys/register/options', { body: password === undefined ? {} : { password } }),
  ])
  const response = await startRegistration({ optionsJSON }).catch(unused)
  return call('POST /api/auth/passkeys/register/verify', { body: { name, response } })
}

function unused(error: unknown): never {
  const name = error instanceof Error ? error.name : ''
  throw new PasskeyUnused(name === 'InvalidStateError' ? apiTexts.passkeyKnown : apiTexts.passkeyUnused, {
    cause: error,
  })
}
