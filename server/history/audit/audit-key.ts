import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  sign,
  verify,
} from 'node:crypto'
import type { AuditKey } from '../../platform/context/audit-key.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import type { Database } from '../../platform/storage/database.ts'
import { DatabaseStartError } from '../../platform/storage/pool.ts'
import type { SealedColumn } from '../../platform/storage/sealed-column.ts'
import type { Sealer } from '../../platform/storage/seal.ts'
import { hasHeads, insertKey, selectKey } from './key.queries.ts'

const PLACE = 'audit_key:private_sealed:1'

export const AUDIT_KEYS: SealedColumn = {
  table: 'audit_key',
  column: 'private_sealed',
  keys: ['id'],
  placeOf: () => PLACE,
}

/**
 * The installation's key, created by the first process that starts.
 * @throws Error when it was sealed with an unknown encryption key
 * @throws DatabaseStartError when it was removed: a new one would make all logs unverifiable
 */
export async function openAuditKey(db: Database, sealer: Sealer, clock: Clock): Promise<AuditKey> {
  let sealed = await selectKey(db)
  if (sealed === null) {
    if (await hasHeads(db))
      throw new DatabaseStartError(
        'The key of the audit log is missing (table audit_key), but there are logs that it protects. Restore its row from a backup, or see "When a log is broken" in docs/audit-log.md.',
      )
    const { privateKey } = generateKeyPairSync('ed25519')
    const bytes = privateKey.export({ type: 'pkcs8', format: 'der' })
    await insertKey(db, sealer.seal(bytes, PLACE), clock.now())
    // Another process may have been first.
    sealed = await selectKey(db)
  }
  if (sealed === null) throw new Error('There is no key of the audit log although one was just created.')
  return auditKeyOf(sealer.open(sealed, PLACE))
}

/**
 * The installation's key, for a command that only reads.
 * @throws Error with one line for the operator when it is missing, or was sealed with an unknown encryption key
 */
export async function readAuditKey(db: Database, sealer: Sealer): Promise<AuditKey> {
  const sealed = await selectKey(db)
  if (sealed === null) throw new DatabaseStartError('There is no audit log yet: the database has no key of it.')
  try {
    return auditKeyOf(sealer.open(sealed, PLACE))
  } catch (error) {
    throw new Error('ENCRYPTION_KEYS does not fit this database. Name the key that it was set up with.', {
      cause: error,
    })
  }
}

/** @param pkcs8 the private key */
function auditKeyOf(pkcs8: Buffer): AuditKey {
  const privateKey = createPrivateKey({ key: pkcs8, type: 'pkcs8', format: 'der' })
  const publicKey = createPublicKey(privateKey)
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const macKey = Buffer.from(hkdfSync('sha256', pkcs8, '', 'faultline audit mac', 32))
  return {
    id: createHash('sha256').update(Buffer.from(x, 'base64url')).digest('hex').slice(0, 32),
    publicKey: x,
    mac(...parts) {
      const hmac = createHmac('sha256', macKey)
      for (const part of parts) hmac.update(`${Buffer.byteLength(part)}:`).update(part)
      return hmac.digest()
    },
    sign: (text) => sign(null, Buffer.from(text), privateKey),
    verify: (text, signature) => verify(null, Buffer.from(text), publicKey, signature),
  }
}
