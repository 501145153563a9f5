import type { IntegrationActor } from '../../platform/context/actor.ts'
import type { CodeHostRow, DeliveryRow } from './code-hosts.queries.ts'
import { findVendor } from './vendors.ts'

type Host = Pick<CodeHostRow, 'id' | 'org_id' | 'provider'>

/** The code host as the sender of a delivery. @param who the person it names, for the activity */
export const deliveryActor = (host: Host, delivery: DeliveryRow, who: string | null = null): IntegrationActor => ({
  kind: 'integration',
  integrationId: host.id,
  name: who === null ? findVendor(host.provider).label : `${who} (${findVendor(host.provider).label})`,
  orgId: host.org_id,
  origin: { kind: 'request', ip: delivery.ip, userAgent: null },
  requestId: delivery.request_id,
})

/** The code host, for what a job finds out. */
export const hostActor = (host: Host): IntegrationActor => ({
  kind: 'integration',
  integrationId: host.id,
  name: findVendor(host.provider).label,
  orgId: host.org_id,
  origin: { kind: 'system', operation: 'code-host' },
  requestId: null,
})
