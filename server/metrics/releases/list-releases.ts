import { z } from 'zod'
import type { Actor } from '../../context/actor.ts'
import type { App } from '../../context/app.ts'
import { invalid } from '../../kernel/errors.ts'
import { TOTAL_CAP, type Page } from '../../kernel/page.api.ts'
import type { ReleaseState } from '../../releases/releases.api.ts'
import { requireProject } from '../../team/require-project.ts'
import { sessionsOfProject, withHealth } from './health.ts'
import { countReleases, selectReleases, valueOf, type After, type ReleaseOrder } from './list.queries.ts'
import { RELEASE_SORTS, type ReleaseRange, type ReleaseSort, type ReleaseWithHealth } from './release-health.api.ts'

export type ListReleasesInput = {
  readonly projectId: string
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly sort: ReleaseSort
  readonly range: ReleaseRange
  readonly environment?: string | undefined
  readonly q?: string | undefined
  readonly version?: string | undefined
  readonly state?: readonly ReleaseState[] | undefined
}

/** @throws AppError not_found, invalid */
export async function listReleases(app: App, actor: Actor, input: ListReleasesInput): Promise<Page<ReleaseWithHealth>> {
  const { limit, offset, cursor, sort } = input
  if (cursor !== undefined && offset > 0) throw invalid('Send either cursor or offset, not both.')
  await requireProject(app, actor, input.projectId)
  const order = orderOf(sort)
  const after = cursor === undefined ? null : decodeCursor(cursor, sort)
  const filter = { projectId: input.projectId, q: input.q, version: input.version, states: input.state }
  const [rows, total, sessions] = await Promise.all([
    selectReleases(app.db, filter, order, { limit: limit + 1, offset, after }),
    countReleases(app.db, filter),
    sessionsOfProject(app, input.projectId, input.range, input.environment),
  ])
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    items: await withHealth(app, shown, sessions),
    total: Math.min(total, TOTAL_CAP),
    ...(total > TOTAL_CAP ? { total_capped: true as const } : {}),
    limit,
    offset,
    next_cursor: last === undefined ? null : encodeCursor(sort, { value: valueOf(last, order.key), id: last.id }),
  }
}

function orderOf(sort: ReleaseSort): ReleaseOrder {
  const descending = sort.startsWith('-')
  const name = descending ? sort.slice(1) : sort
  return { key: RELEASE_SORTS.find((key) => key === name) ?? 'date', descending }
}

const Cursor = z.tuple([z.string(), z.string(), z.uuid()])

const encodeCursor = (sort: ReleaseSort, { value, id }: After): string =>
  Buffer.from(JSON.stringify([sort, value, id])).toString('base64url')

/** Only for the sort it was given out for. */
function decodeCursor(text: string, sort: ReleaseSort): After {
  let given: unknown
  try {
    given = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    given = null
  }
  const parts = Cursor.safeParse(given)
  const isTime = orderOf(sort).key !== 'version'
  if (!parts.success || parts.data[0] !== sort || (isTime && Number.isNaN(Date.parse(parts.data[1]))))
    throw invalid('cursor is not one this list gave out.')
  return { value: parts.data[1], id: parts.data[2] }
}
