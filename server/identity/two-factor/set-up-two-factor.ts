import { lockUser } from '../auth/auth.queries.ts'
import { requireRecentSignIn } from '../auth/require-recent-sign-in.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, unauthenticated } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { newBackupCodes, sealSecret } from './backup-codes.ts'
import { newTotpSecret, otpauthUrl } from './totp.ts'
import { insertFactor, readFactor, countUnusedCodes } from './two-factor.queries.ts'
import type { z } from 'zod'
import type { TwoFactor } from './two-factor.api.ts'

/**
 * Creates a secret and backup codes. The log-in does not ask for codes before one of them was verified; until then a new
 * setup replaces this one.
 * @throws AppError conflict (already on), and those of {@link requireRecentSignIn}
 */
export async function setUpTwoFactor(
  app: App,
  actor: SessionActor,
  password: string | undefined,
): Promise<{ readonly otpauthUrl: string; readonly backupCodes: string[] }> {
  await requireRecentSignIn(app, actor, password)
  const secret = newTotpSecret()
  const { codes, salt, hashes } = await newBackupCodes(app)
  const email = await app.tx(async (tx) => {
    const user = await lockUser(tx, actor.userId)
    if (user === null) throw unauthenticated('This session has ended. Log in again.')
    const known = await readFactor(tx, user.id)
    if (known !== null && known.verified_at !== null)
      throw conflict('Two-factor authentication is on already. Turn it off before you set up another app.')
    const id = newId()
    const factor = {
      id,
      user_id: user.id,
      secret_sealed: sealSecret(app, secret, id, user.id),
      backup_salt: salt,
      created_at: app.clock.now(),
    }
    await insertFactor(tx, factor, hashes)
    return user.email
  })
  return { otpauthUrl: await otpauthUrl(secret, email), backupCodes: [...codes] }
}

/** Whether the caller's log-in asks for a code. */
export async function readTwoFactor(app: App, actor: SessionActor): Promise<z.input<typeof TwoFactor>> {
  const factor = await readFactor(app.db, actor.userId)
  if (factor === null || factor.verified_at === null) return { enabled: false, enrolled_at: null, backup_codes_left: 0 }
  return {
    enabled: true,
    enrolled_at: factor.verified_at.toISOString(),
    backup_codes_left: await countUnusedCodes(app.db, factor.id),
  }
}
