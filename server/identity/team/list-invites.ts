import type { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { pageByName, type NameListInput } from '../../platform/kernel/page-by-name.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import type { Invite } from './invites.api.ts'
import { countInvites, selectInvites, type InviteRow } from './invites.queries.ts'

/**
 * Invitations of the caller's organisation that were neither accepted nor revoked.
 * @throws AppError invalid for a cursor of another sort
 */
export const listInvites = (
  app: App,
  { orgId }: OrgActor,
  input: NameListInput,
): Promise<Page<z.infer<typeof Invite>>> =>
  pageByName(
    input,
    (listing) => selectInvites(app.db, { ...listing, orgId }),
    () => countInvites(app.db, orgId),
    viewInvite,
  )

export const viewInvite = (row: InviteRow): z.infer<typeof Invite> => ({
  id: row.id,
  email: row.email,
  role: row.role,
  invited_by:
    row.inviter_id === null || row.inviter_name === null ? null : { id: row.inviter_id, name: row.inviter_name },
  created_at: row.created_at.toISOString(),
  sent_at: row.sent_at?.toISOString() ?? null,
  expires_at: row.expires_at.toISOString(),
})
