import type { App } from '#server/platform/context/app.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { newOneTimeToken, oneTimeTokenHash } from '#server/platform/kernel/one-time-token.ts'
import type { Role } from '#shared/permissions.ts'
import type { Person } from './members.ts'

const WEEK_MS = 7 * 86_400_000

/** An invitation by a member, with the token that its mail would hold. */
export async function anInvite(
  app: App,
  inviter: Person,
  over: { email?: string; role?: Role } = {},
): Promise<{ id: string; token: string; email: string }> {
  const [id, token] = [newId(), newOneTimeToken()]
  const email = over.email ?? `invited-${id.slice(-12)}@example.com`
  const now = app.clock.now()
  await app.db
    .insertInto('invites')
    .values({
      id,
      org_id: inviter.actor.orgId,
      email,
      role: over.role ?? 'member',
      invited_by: inviter.actor.userId,
      token_hash: oneTimeTokenHash(token),
      created_at: now,
      sent_at: now,
      expires_at: new Date(now.getTime() + WEEK_MS),
    })
    .execute()
  return { id, token, email }
}
