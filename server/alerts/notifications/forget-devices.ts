import type { FactSubscriber } from '../../platform/context/actor.ts'
import { deleteDevicesOfMembers, deleteDevicesOfSessions, moveDevices } from './devices.queries.ts'

/** Sessions that end for these reasons are followed by another one of the same user, who keeps the devices. */
const FOLLOWED = new Set(['role_changed', 'too_many'])

/**
 * Removes devices whose member left, or whose session was ended by its user or for safety: a phone that was lost, or that
 * someone else uses now, shows nothing any more. A session that expires leaves its devices.
 */
export const forgetDevices: FactSubscriber = async (tx, _context, facts) => {
  const of = (kind: string) => facts.filter((fact) => fact.kind === kind)
  const members = of('member.removed').flatMap(({ orgId, userId }) => (userId === undefined ? [] : [{ orgId, userId }]))
  if (members.length > 0) await deleteDevicesOfMembers(tx, members)
  const ended = [
    ...of('signout.ok'),
    ...of('session.theft_detected'),
    ...of('session.revoked').filter(({ data }) => !FOLLOWED.has(String(data['reason']))),
  ].flatMap(({ sessionId }) => sessionId ?? [])
  if (ended.length > 0) await deleteDevicesOfSessions(tx, ended)
  const switched = of('session.org_switched')
  const [from, to] = ['out', 'in'].map((way) => switched.find(({ data }) => data['direction'] === way)?.sessionId)
  if (from !== undefined && to !== undefined) await moveDevices(tx, from, to)
}
