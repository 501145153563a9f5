import type { App } from '#server/platform/context/app.ts'
import type { PasskeyRow } from '#server/identity/passkeys/passkeys.queries.ts'
import { registerPasskey, startPasskeyRegistration } from '#server/identity/passkeys/register-passkey.ts'
import { relyingParty } from '#server/identity/passkeys/relying-party.ts'
import { softAuthenticator, type AlgorithmName, type SoftPasskey } from './authenticator.ts'
import { cookieJar } from './cookie-jar.ts'
import type { Person } from './members.ts'

/** The page from which passkeys of this app are used. */
export const passkeyOrigin = (app: App): string => relyingParty(app.config).origins[0] ?? ''

/** Adds a passkey to a user. */
export async function addPasskey(
  app: App,
  person: Pick<Person, 'actor'>,
  over: { algorithm?: AlgorithmName; counts?: boolean; name?: string } = {},
): Promise<{ row: PasskeyRow; passkey: SoftPasskey }> {
  const cookies = cookieJar()
  const options = await startPasskeyRegistration(app, person.actor, { password: undefined, cookies })
  const { response, passkey } = softAuthenticator(passkeyOrigin(app), over).create(options)
  return { row: await registerPasskey(app, person.actor, { name: over.name, response, cookies }), passkey }
}
