import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { dropEnded, endSsoSessions } from './end-sso-sessions.ts'
import { deleteConfig, lockConfig } from './sso.queries.ts'

/** Removes single sign-on of the actor's organisation and ends the sessions that began with it. */
export async function removeSsoConfig(app: App, actor: OrgActor): Promise<void> {
  const { orgId } = actor
  const ended = await app.tx(async (tx) => {
    if ((await lockConfig(tx, orgId)) === null) return null
    await deleteConfig(tx, orgId)
    const ended = await endSsoSessions(tx, app, orgId, 'sso_removed')
    const fields = ['issuer', 'client_id', 'client_secret', 'domains', 'enforced']
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'sso.config.updated', orgId, data: { fields } },
      ...ended.facts,
    ])
    return ended
  })
  if (ended !== null) dropEnded(app, ended)
}
