import { recordFacts } from '../../history/facts/record-facts.ts'
import { setRepositoryOwners } from '../../issues/ownership/set-repository-owners.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/actor.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { aboutCodeHost } from './about-code-host.ts'
import { deleteCodeHost, lockCodeHost } from './code-hosts.queries.ts'

/** @throws AppError not_found */
export async function disconnectCodeHost(app: App, actor: OrgActor, projectId: string): Promise<void> {
  await requireProject(app, actor, projectId)
  await app.tx(async (tx) => {
    await setRepositoryOwners(tx, actor.orgId, projectId, [])
    const before = await lockCodeHost(tx, projectId)
    if (before === undefined) throw notFound('Code host')
    await deleteCodeHost(tx, projectId)
    await recordFacts(tx, factContext(app, actor), [
      {
        kind: 'integration.codehost.disconnected',
        ...aboutCodeHost({ ...actor, id: before.id, projectId, url: before.repository_url }),
        data: { name: before.provider },
      },
    ])
  })
}
