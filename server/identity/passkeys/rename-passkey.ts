import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { setPasskeyName, type PasskeyRow } from './passkeys.queries.ts'

/** Renames a passkey of the caller. @throws AppError not_found */
export async function renamePasskey(
  app: App,
  actor: SessionActor,
  { passkeyId, name }: { readonly passkeyId: string; readonly name: string },
): Promise<PasskeyRow> {
  const passkey = await setPasskeyName(app.db, { id: passkeyId, userId: actor.userId }, name)
  if (passkey === null) throw notFound('Passkey')
  return passkey
}
