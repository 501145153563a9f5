import type { z } from 'zod'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { actorForLog, factContext, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Organisation } from '../auth/auth.api.ts'
import { setOrgName } from '../auth/auth.queries.ts'
import { lockTeam } from './change-team.ts'

/**
 * Changes the name of the caller's organisation; its slug stays. The present name is no change and leaves no trace.
 * @throws AppError unauthenticated, forbidden
 */
export async function renameOrg(app: App, actor: OrgActor, name: string): Promise<z.input<typeof Organisation>> {
  const { orgId, org, isChanged } = await app.tx(async (tx) => {
    const team = await lockTeam(tx, actor)
    const changed = await setOrgName(tx, team.orgId, name)
    if (changed)
      await recordFacts(tx, factContext(app, actor), [
        { kind: 'org.updated', orgId: team.orgId, data: { fields: ['name'] } },
      ])
    return { ...team, isChanged: changed }
  })
  if (isChanged) app.log.info(actorForLog(actor), 'organization.renamed')
  return { id: orgId, slug: org.slug, name }
}
