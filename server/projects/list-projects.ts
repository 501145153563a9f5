import { z } from 'zod'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { invalid } from '../kernel/errors.ts'
import type { Page } from '../kernel/page.api.ts'
import { countProjects, listProjectRows, type ListedProject } from './projects.queries.ts'
import { viewProject, type ProjectView } from './view-project.ts'

export type ListProjectsInput = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly sort: 'name' | '-name' | 'created_at' | '-created_at'
}

/**
 * Projects of the caller's organisation with their open issues and events of the last 24 hours.
 * @throws AppError invalid for a cursor that is none of this sort
 */
export async function listProjects(app: App, actor: OrgActor, input: ListProjectsInput): Promise<Page<ProjectView>> {
  const descending = input.sort.startsWith('-')
  const sort = input.sort.endsWith('name') ? 'name' : 'created_at'
  const after = input.cursor === undefined ? null : readCursor(input.cursor, input.sort)
  const offset = after === null ? input.offset : 0
  const [rows, total] = await Promise.all([
    // One more than asked for: whether there is a next page.
    listProjectRows(app.db, {
      orgId: actor.orgId,
      sort,
      descending,
      limit: input.limit + 1,
      offset,
      after,
      now: app.clock.now(),
    }),
    countProjects(app.db, actor.orgId),
  ])
  const page = rows.slice(0, input.limit)
  const last = rows.length > input.limit ? page.at(-1) : undefined
  return {
    items: page.map((row) => viewProject(app.config, row)),
    total,
    limit: input.limit,
    offset,
    next_cursor: last === undefined ? null : makeCursor(input.sort, last),
  }
}

const Cursor = z.tuple([z.string(), z.string(), z.uuid()])

const makeCursor = (sort: string, row: ListedProject): string => {
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
