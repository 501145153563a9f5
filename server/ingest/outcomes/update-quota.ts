import { publish } from '../../platform/storage/bus.ts'
import { actorForLog, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { updateOrgQuota } from '../../identity/auth/auth.queries.ts'
import { readQuota, type QuotaView } from './read-quota.ts'

/** Sets the quota; null removes it. Every intake drops its cached keys and applies it immediately. */
export async function updateQuota(app: App, actor: OrgActor, eventsPerDay: number | null): Promise<QuotaView> {
  await app.tx(async (tx) => {
    if (!(await updateOrgQuota(tx, actor.orgId, eventsPerDay))) return
    await publish(tx, 'project', { org_id: actor.orgId })
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'org.quota_updated', orgId: actor.orgId, data: { events_per_day: eventsPerDay } },
    ])
  })
  app.log.info({ ...actorForLog(actor), events_per_day: eventsPerDay }, 'organization.quota_updated')
  return readQuota(app, actor)
}
