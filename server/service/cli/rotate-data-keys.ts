import { allOrgIds } from '../../identity/auth/auth.queries.ts'
import { orgResealer, replaceDataKey } from '../../identity/auth/org-sealer.ts'
import { HMAC_KEYS } from '../../identity/auth/start-session.ts'
import { systemActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { PUSH_TOKENS } from '../../alerts/notifications/push-token.ts'
import { ERASED_USERS } from '../erasure/key-place.ts'
import { SCRUB_KEYS } from '../../ingest/scrubbing/scrub-settings.ts'
import { ALERT_ACTIONS } from '../../alerts/rules/action-config.ts'
import { CLIENT_SECRETS } from '../../identity/external-identity/client-secret.ts'
import type { Sealer } from '../../platform/storage/seal.ts'
import { countOlderValues, type OrgSealedColumn, rowsOfOrg } from '../../platform/storage/sealed-column.ts'
import { WEBHOOK_HEADERS, WEBHOOK_SECRETS } from '../../integrations/webhooks/secrets.ts'
import { reseal } from './reseal.ts'

/** Everything that data keys of organisations seal. */
export const ORG_SEALED: readonly OrgSealedColumn[] = [
  HMAC_KEYS,
  SCRUB_KEYS,
  ERASED_USERS,
  CLIENT_SECRETS,
  WEBHOOK_HEADERS,
  WEBHOOK_SECRETS,
  PUSH_TOKENS,
  ALERT_ACTIONS,
]

/**
 * Gives every organisation a new data key, and seals its values again with it, beside a running service. May be
 * interrupted at any time and run again: an organisation with values of the key before keeps its key, and the rest of them
 * is sealed again.
 */
export async function rotateDataKeys(
  app: App,
  progress: (done: number, total: number) => void,
  signal?: AbortSignal,
): Promise<{ readonly orgs: number; readonly resealed: number }> {
  const orgIds = await allOrgIds(app.db)
  let [total, resealed] = [0, 0]
  for (const orgId of orgIds) {
    signal?.throwIfAborted()
    const left = await olderValues(app, orgId, await orgResealer(app, orgId, app.db))
    // Values of an interrupted run come first: a key is forgotten when the second one after it is made.
    if (left === 0)
      await app.tx(async (tx) => {
        const keyId = await replaceDataKey(app, orgId, tx)
        await recordFacts(tx, factContext(app, systemActor('rotate-keys')), [
          { kind: 'encryption.key_rotated', orgId, data: { key_id: keyId } },
        ])
      })
    total += await olderValues(app, orgId, await orgResealer(app, orgId, app.db))
  }
  const onBatch = (values: number): void => {
    resealed += values
    progress(resealed, total)
  }
  for (const orgId of orgIds) {
    const sealer = await orgResealer(app, orgId, app.db)
    for (const column of ORG_SEALED) {
      const rows = rowsOfOrg(column, orgId)
      await reseal(app, column, sealer, ({ keys }) => column.placeOf(orgId, ...keys), { rows, onBatch, signal })
    }
  }
  return { orgs: orgIds.length, resealed }
}

async function olderValues(app: App, orgId: string, { keyId }: Sealer): Promise<number> {
  let sum = 0
  for (const column of ORG_SEALED) sum += await countOlderValues(app.db, column, keyId, rowsOfOrg(column, orgId))
  return sum
}
