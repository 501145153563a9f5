import type { z } from 'zod'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import type { Page } from '../kernel/page.api.ts'
import { pageByName, type NameListInput } from '../kernel/page-by-name.ts'
import type { Member } from './members.api.ts'
import { countMembers, selectMembers, type MemberRow } from './members.queries.ts'

/**
 * Returns active members of the caller's organisation.
 * @throws AppError invalid for a cursor of another sort
 */
export function listMembers(
  app: App,
  { orgId }: OrgActor,
  { q = '', ...input }: NameListInput & { readonly q?: string | undefined },
): Promise<Page<z.infer<typeof Member>>> {
  const search = q.trim() === '' ? null : q.trim()
  return pageByName(
    input,
    (listing) => selectMembers(app.db, { ...listing, orgId, search }),
    () => countMembers(app.db, orgId, search),
    viewMember,
  )
}

const viewMember = (row: MemberRow): z.infer<typeof Member> => ({
  id: row.id,
  name: row.name,
  email: row.email,
  role: row.role,
  created_at: row.created_at.toISOString(),
  last_seen_at: row.last_used_at?.toISOString() ?? null,
})
