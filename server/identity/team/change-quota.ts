import { type OrgActor, actorForLog, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { publish } from '../../platform/storage/bus.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { updateOrgQuota } from '../auth/auth.queries.ts'

/** Sets the quota of the caller's organisation; null removes it. Every intake drops its cached keys and applies it immediately. */
export async function changeQuota(app: App, actor: OrgActor, eventsPerDay: number | null): Promise<void> {
  await app.tx(async (tx) => {
    if (!(await updateOrgQuota(tx, actor.orgId, eventsPerDay))) return
    await publish(tx, 'project', { org_id: actor.orgId })
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'org.quota_updated', orgId: actor.orgId, data: { events_per_day: eventsPerDay } },
    ])
  })
  app.log.info({ ...actorForLog(actor), events_per_day: eventsPerDay }, 'organization.quota_updated')
}
