import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { selectMarkers } from './releases.queries.ts'

/** A chart with more markers is not readable. */
const MAX_MARKERS = 50

/** Dates of releases, oldest first. @throws AppError invalid when the range is empty */
export async function listMarkers(
  app: App,
  actor: OrgActor,
  input: { readonly projectId?: readonly string[] | undefined; readonly from: string; readonly to: string },
) {
  const [from, to] = [new Date(input.from), new Date(input.to)]
  if (from >= to) throw invalid('from must be before to.')
  const rows = await selectMarkers(app.db, actor.orgId, { projectIds: input.projectId, from, to }, MAX_MARKERS)
  return {
    items: rows.reverse().map(({ dated_at: at, ...marker }) => ({ ...marker, at: at.toISOString() })),
  }
}
