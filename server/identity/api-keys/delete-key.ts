import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { publish } from '../../platform/storage/bus.ts'
import { deleteMemberKey, type KeyRow } from './api-keys.queries.ts'

/** Topic of the bus: open streams of a deleted key end. Requests need no message, because keys are not cached. */
const KEY_TOPIC = 'api-key'

/**
 * Deletes one of the caller's keys. Every process refuses it from then on.
 * @throws AppError not_found
 */
export async function deleteKey(app: App, actor: SessionActor, keyId: string): Promise<void> {
  await app.tx(async (tx) => {
    const deleted = await deleteMemberKey(tx, actor, keyId)
    if (deleted === undefined) throw notFound('Key')
    await recordFacts(tx, factContext(app, actor), [keyRevoked(deleted)])
    await publish(tx, KEY_TOPIC, { key_id: keyId })
  })
  app.log.info({ ...actorForLog(actor), key_id: keyId }, 'api_key.revoked')
}

export const keyRevoked = ({ id, org_id: orgId, name, scopes }: KeyRow): Fact => ({
  kind: 'api_key.revoked',
  orgId,
  targetId: id,
  label: name,
  data: { scopes },
})
