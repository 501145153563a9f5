import type { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { pageByName, type NameListInput } from '../../platform/kernel/page-by-name.ts'
import type { Member } from './members.api.ts'
import { countMembers, selectMembers, type MemberRow, type MemberState } from './members.queries.ts'

/**
 * Returns members of the caller's organisation.
 * @throws AppError invalid for a cursor of another sort
 */
export function listMembers(
  app: App,
  { orgId }: OrgActor,
  { q = '', state, ...input }: NameListInput & { readonly q?: string | undefined; readonly state: MemberState },
): Promise<Page<z.infer<typeof Member>>> {
  const search = q.trim() === '' ? null : q.trim()
  return pageByName(
    input,
    (listing) => selectMembers(app.db, { ...listing, orgId, search, state }),
    () => countMembers(app.db, { orgId, search, state }),
    viewMember,
  )
}

export const viewMember = (row: MemberRow): z.infer<typeof Member> => ({
  id: row.id,
  name: row.name,
  email: row.email,
  role: row.role,
  created_at: row.created_at.toISOString(),
  last_seen_at: row.last_used_at?.toISOString() ?? null,
  two_factor: Boolean(row.two_factor),
  disabled_at: row.disabled_at?.toISOString() ?? null,
})
