import { z } from 'zod'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { invalid } from '../kernel/errors.ts'
import type { Page } from '../kernel/page.api.ts'
import type { Member, MEMBER_SORTS } from './members.api.ts'
import { countMembers, selectMembers, type MemberRow } from './members.queries.ts'

export type ListMembersInput = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly q?: string | undefined
  readonly sort: (typeof MEMBER_SORTS)[number]
}

/**
 * Returns active members of the caller's organisation.
 * @throws AppError invalid for a cursor of another sort
 */
export async function listMembers(
  app: App,
  actor: OrgActor,
  input: ListMembersInput,
): Promise<Page<z.infer<typeof Member>>> {
  const sort = input.sort.endsWith('name') ? 'name' : 'created_at'
  const after = input.cursor === undefined ? null : readCursor(input.cursor, input.sort)
  const offset = after === null ? input.offset : 0
  const q = input.q?.trim() ?? ''
  const search = q === '' ? null : q
  const [rows, total] = await Promise.all([
    // One more row, to know whether there is a next page.
    selectMembers(app.db, {
      orgId: actor.orgId,
      search,
      sort,
      descending: input.sort.startsWith('-'),
      limit: input.limit + 1,
      offset,
      after,
    }),
    countMembers(app.db, actor.orgId, search),
  ])
  const page = rows.slice(0, input.limit)
  const last = rows.length > input.limit ? page.at(-1) : undefined
  return {
    items: page.map(viewMember),
    total,
    limit: input.limit,
    offset,
    next_cursor: last === undefined ? null : makeCursor(input.sort, last),
  }
}

const viewMember = (row: MemberRow): z.infer<typeof Member> => ({
  id: row.id,
  name: row.name,
  email: row.email,
  role: row.role,
  created_at: row.created_at.toISOString(),
  last_seen_at: row.last_used_at?.toISOString() ?? null,
})

const Cursor = z.tuple([z.string(), z.string(), z.uuid()])

function makeCursor(sort: string, row: MemberRow): string {
  const value = sort.endsWith('name') ? row.folded_name : row.created_at.toISOString()
  return Buffer.from(JSON.stringify([sort, value, row.id])).toString('base64url')
}

function readCursor(text: string, sort: string): { value: string; id: string } {
  const wrong = () => invalid('cursor must be the next_cursor of a page with the same sort.')
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    throw wrong()
  }
  const cursor = Cursor.safeParse(parsed)
  if (!cursor.success) throw wrong()
  const [sortOfCursor, value, id] = cursor.data
  if (sortOfCursor !== sort || value.includes('\0')) throw wrong()
  if (!sort.endsWith('name') && !z.iso.datetime().safeParse(value).success) throw wrong()
  return { value, id }
}
