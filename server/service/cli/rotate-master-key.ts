import { CANARY } from '../app.ts'
import { AUDIT_KEYS } from '../../history/audit/audit-key.ts'
import { allOrgIds } from '../../identity/auth/auth.queries.ts'
import { DATA_KEYS } from '../../identity/auth/org-sealer.ts'
import { SIGNING_KEYS } from '../../identity/auth/signing-keys.ts'
import { systemActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { QUEUED_MAILS } from '../../platform/mails/sealed-mail.ts'
import { countOlderValues, type SealedColumn } from '../../platform/storage/sealed-column.ts'
import { FACTOR_SECRETS } from '../../identity/two-factor/backup-codes.ts'
import { reseal } from './reseal.ts'

/** Everything that the master key seals. Data keys of organisations seal the rest (`rotate-data-keys.ts`). */
export const MASTER_SEALED: readonly SealedColumn[] = [
  DATA_KEYS,
  SIGNING_KEYS,
  AUDIT_KEYS,
  FACTOR_SECRETS,
  QUEUED_MAILS,
  CANARY,
]

/**
 * Seals everything with the first key of ENCRYPTION_KEYS. May be interrupted at any time and run again: it continues with
 * what is left. A running service opens both, if it has both keys.
 * @returns how many values are still sealed with another key: a service without the new key made them meanwhile
 */
export async function rotateMasterKey(
  app: App,
  progress: (done: number, total: number) => void,
  signal?: AbortSignal,
): Promise<{ readonly resealed: number; readonly left: number }> {
  const { keyId } = app.sealer
  const left = async () => {
    let sum = 0
    for (const column of MASTER_SEALED) sum += await countOlderValues(app.db, column, keyId)
    return sum
  }
  const total = await left()
  let resealed = 0
  for (const column of MASTER_SEALED)
    await reseal(app, column, app.sealer, ({ keys }) => column.placeOf(...keys), {
      signal,
      onBatch: (values) => progress((resealed += values), total),
    })
  if (resealed > 0)
    for (const orgId of await allOrgIds(app.db))
      await app.tx((tx) =>
        recordFacts(tx, factContext(app, systemActor('rotate-keys')), [
          { kind: 'encryption.key_rotated', orgId, data: { key_id: keyId } },
        ]),
      )
  return { resealed, left: await left() }
}
