import { accountFacts } from '../auth/account-facts.ts'
import { lockUser, waysToSignIn } from '../auth/auth.queries.ts'
import { requireRecentSignIn } from '../auth/require-recent-sign-in.ts'
import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { removedMail } from './passkey-mails.ts'
import { selectPasskeys, removePasskey, setPasskeyName, type PasskeyRow } from './passkeys.queries.ts'

/**
 * Removes a passkey of the caller. Sessions that it began stay.
 * @throws AppError not_found, conflict (the last way to sign in), and those of {@link requireRecentSignIn}
 */
export async function deletePasskey(
  app: App,
  actor: SessionActor,
  { passkeyId, password }: { readonly passkeyId: string; readonly password?: string | undefined },
): Promise<void> {
  // Before the password is checked, which counts an attempt.
  if (!(await selectPasskeys(app.db, actor.userId)).some(({ id }) => id === passkeyId)) throw notFound('Passkey')
  await requireRecentSignIn(app, actor, password)
  await app.tx(async (tx) => {
    const user = await lockUser(tx, actor.userId)
    const passkey = await removePasskey(tx, { id: passkeyId, userId: actor.userId })
    if (user === null || passkey === null) throw notFound('Passkey')
    if ((await waysToSignIn(tx, user.id)) === 0)
      throw conflict('This is your only way to sign in. Set a password or add another passkey first.')
    const fact = { kind: 'passkey.removed', data: { passkey_id: passkey.id } } as const
    await recordFacts(tx, factContext(app, actor), await accountFacts(tx, user.id, fact))
    await enqueueMails(tx, app, actor.orgId, [removedMail(app, user, passkey.name)])
  })
  app.log.info({ ...actorForLog(actor), ip: actor.origin.ip, passkey_id: passkeyId }, 'passkey.removed')
}

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
