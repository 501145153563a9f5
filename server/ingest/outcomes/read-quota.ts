import type { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { readUsage } from '../limits/org-quota.queries.ts'
import type { Intake } from './intake.api.ts'
import { selectQuota } from './intake.queries.ts'

export type QuotaView = z.input<typeof Intake>['quota']

/** The organisation's quota and how much of today's is used, as of the last second. */
export async function readQuota(app: App, actor: OrgActor): Promise<QuotaView> {
  const day = utcDay(app.clock.now())
  return {
    events_per_day: await selectQuota(app.db, actor.orgId),
    used_today: await readUsage(app.db, actor.orgId, day),
    resets_at: `${dayPlus(day, 1)}T00:00:00.000Z`,
  }
}
