import { createApp } from '../app.ts'
import { verifyChains } from '../audit/verify-chains.ts'
import { readConfig } from '../config.ts'
import { pendingMigrations } from '../storage/migrate.ts'
import { DatabaseStartError } from '../storage/database-start-error.ts'
import { openDatabase } from './database.ts'
import { createStopper } from './stopper.ts'

/** `faultline audit verify`: a line per organisation; exit code 1 when an audit log is broken. */
export async function auditVerifyCommand({ org }: { readonly org?: string }): Promise<void> {
  const config = readConfig()
  const print = (line: string): void => console.log(line)
  const stopper = createStopper()
  await stopper.start(async () => {
    const database = await openDatabase(config, print, stopper.signal)
    stopper.onStop(() => database.stop())
    const app = await createApp({ ...config, dataDir: database.dataDir }, database.connectionString, 2, 'audit')
    stopper.onStop(() => app.close())
    const pending = await pendingMigrations(app.db)
    if (pending.length > 0) throw new DatabaseStartError('Run "npm run admin -- migrate" first.')
    const { chains, broken } = await verifyChains(app, print, { slug: org, signal: stopper.signal })
    if (chains === 0 && org !== undefined) throw new DatabaseStartError(`There is no audit log of ${org}.`)
    const logs = `${chains} audit ${chains === 1 ? 'log' : 'logs'}`
    stopper.stop(broken === 0 ? `Verified ${logs}.` : `Verified ${logs}: ${broken} broken.`, broken === 0 ? 0 : 1)
  })
}
