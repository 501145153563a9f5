import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { deleteMemberDevice } from './devices.queries.ts'

/** Removes a device of the member; pushes that are on their way to it end. @throws AppError not_found */
export async function deleteDevice(app: App, actor: OrgActor, deviceId: string): Promise<void> {
  const wasThere = await app.tx((tx) => deleteMemberDevice(tx, requireActingMember(actor), deviceId))
  if (!wasThere) throw notFound('Device')
}
