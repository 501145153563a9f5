import { readAuditKey } from '../../history/audit/audit-key.ts'
import { verifyChains } from '../../history/audit/verify-chains.ts'
import { readConfig, type Config } from '../../config/config.ts'
import { systemClock } from '../../platform/kernel/clock.ts'
import { Database } from '../../platform/storage/database.ts'
import { createPool, DatabaseStartError } from '../../platform/storage/pool.ts'
import { createSealer, existingEncryptionKeys, parseEncryptionKeys, type Sealer } from '../../platform/storage/seal.ts'
import { checkMigrated } from './check-migrated.ts'
import { openExistingDatabase } from './database.ts'
import { operatorError } from './operator-error.ts'
import { createStopper } from './stopper.ts'

/**
 * `faultline audit verify`: a line per organisation; exit code 1 when an audit log is broken. It only reads: it creates
 * no keys and applies no migrations.
 */
export async function auditVerifyCommand({ org }: { readonly org?: string }): Promise<void> {
  const environment = readConfig()
  const print = (line: string): void => console.log(line)
  const stopper = createStopper()
  await stopper.start(() =>
    operatorError(async () => {
      const { connectionString, dataDir, stop } = await openExistingDatabase(environment, print, stopper.signal)
      stopper.onStop(stop)
      const config = { ...environment, dataDir }
      await checkMigrated(connectionString)
      const db = new Database(createPool({ connectionString, name: 'faultline audit', max: 2, onError: () => {} }))
      stopper.onStop(() => db.close())
      const auditKey = await readAuditKey(db, sealerOf(config))
      const parts = { db, auditKey, clock: systemClock, config }
      const { chains, broken } = await verifyChains(parts, print, { slug: org, signal: stopper.signal })
      if (chains === 0 && org !== undefined) throw new DatabaseStartError(`There is no audit log of ${org}.`)
      const logs = `${chains} audit ${chains === 1 ? 'log' : 'logs'}`
      stopper.stop(broken === 0 ? `Verified ${logs}.` : `Verified ${logs}: ${broken} broken.`, broken === 0 ? 0 : 1)
    }),
  )
}

const sealerOf = ({ encryptionKeys, dataDir }: Config): Sealer =>
  createSealer(encryptionKeys === null ? existingEncryptionKeys(dataDir) : parseEncryptionKeys(encryptionKeys))
