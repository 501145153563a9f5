import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { readStart, wrongCursor } from '../../platform/kernel/cursor.ts'
import { TOTAL_CAP, type Page } from '../../platform/kernel/page.api.ts'
import type { Commit } from './releases.api.ts'
import { countParts, findRelease, selectCommits } from './releases.queries.ts'
import { viewCommit } from './view-release.ts'

export type PageInput = { readonly limit: number; readonly offset: number; readonly cursor?: string | undefined }

/** @throws AppError not_found, invalid */
export async function listCommits(
  app: App,
  actor: OrgActor,
  { releaseId, limit, offset, cursor }: PageInput & { readonly releaseId: string },
): Promise<Page<Commit>> {
  const after = readStart({ offset, cursor }, (text) => {
    if (!/^-?\d{1,9}$/.test(text)) throw wrongCursor()
    return Number(text)
  })
  const release = await findRelease(app.db, actor.orgId, releaseId)
  if (release === null) throw notFound('Release')
  const [rows, counts] = await Promise.all([
    selectCommits(app.db, releaseId, { limit: limit + 1, offset }, after),
    countParts(app.db, [releaseId]),
  ])
  const shown = rows.slice(0, limit)
  return {
    items: shown.map(viewCommit),
    total: Math.min(counts.get(releaseId)?.commits ?? 0, TOTAL_CAP),
    limit,
    offset,
    next_cursor: rows.length > limit ? String(shown.at(-1)?.position ?? '') : null,
  }
}
