import type { z } from 'zod'
import { lockUser } from '../../identity/auth/auth.queries.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { NotificationPreferences } from './preferences.api.ts'
import { selectProjectChannels, writeProjectChannels } from './projects.queries.ts'
import { readPreferences } from './read-preferences.ts'

/**
 * Turns channels of the caller on or off for one project. What is turned off for all projects stays off.
 * @throws AppError not_found
 */
export async function updateProjectChannels(
  app: App,
  actor: SessionActor,
  projectId: string,
  change: { readonly email?: boolean | undefined; readonly push?: boolean | undefined },
): Promise<z.input<typeof NotificationPreferences>> {
  const { orgId, userId } = actor
  await requireProject(app, actor, projectId)
  await app.tx(async (tx) => {
    // Two changes at a time would lose one.
    await lockUser(tx, userId)
    const before = (await selectProjectChannels(tx, orgId, userId)).find((row) => row.project_id === projectId)
    await writeProjectChannels(tx, {
      user_id: userId,
      org_id: orgId,
      project_id: projectId,
      email: change.email ?? before?.email ?? true,
      push: change.push ?? before?.push ?? true,
    })
  })
  return readPreferences(app, actor)
}
