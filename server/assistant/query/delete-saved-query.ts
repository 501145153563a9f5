import { roleAtLeast } from '#shared/permissions.ts'
import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { forbidden, notFound } from '../../platform/kernel/errors.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { lockSavedQuery, removeSavedQuery } from './saved-queries.queries.ts'

/** Members delete their own, admins all. @throws AppError not_found, forbidden */
export async function deleteSavedQuery(
  app: App,
  actor: OrgActor,
  { projectId, queryId }: { readonly projectId: string; readonly queryId: string },
): Promise<void> {
  await requireProject(app, actor, projectId)
  const member = requireActingMember(actor)
  await app.tx(async (tx) => {
    const query = await lockSavedQuery(tx, projectId, queryId)
    if (query === undefined) throw notFound('Query')
    if (query.created_by !== member.userId && !roleAtLeast(member.role, 'admin'))
      throw forbidden('Only admins and owners can delete saved queries of other members.')
    await removeSavedQuery(tx, queryId)
  })
}
