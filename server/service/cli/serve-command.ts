import { createApp } from '../app.ts'
import { readConfig, type Config } from '../../config/config.ts'
import type { ProcessRole } from '../../config/environment.ts'
import { withinGrace } from '../../platform/kernel/abortable.ts'
import { tuneCollector } from './collector.ts'
import { migrateDatabase, openDatabase, type OpenDatabase } from './database.ts'
import { operatorError } from './operator-error.ts'
import { startService, type Service } from './service.ts'
import { createStopper, type Stopper } from './stopper.ts'

/** Connections of the main thread: intake, API and pages. */
const CONNECTIONS = 10
/** For statements whose clients have disconnected: the database would let them run for half a minute. */
const APP_GRACE_MS = 2_000

/** `faultline serve`: database → migrations → service → one line with the address. Stops on the first signal. */
export async function serveCommand(roles: readonly ProcessRole[] | null): Promise<void> {
  tuneCollector()
  const environment = readConfig()
  const startedAt = performance.now()
  const config = roles === null ? environment : { ...environment, roles }
  const print = (line: string): void => console.log(line)
  const stopper = createStopper()
  await stopper.start(async () => {
    const database = await openDatabase(config, print, stopper.signal)
    stopper.onStop(() => database.stop())
    await migrateDatabase(database.connectionString, print, stopper.signal)
    const service = await open(config, database, stopper)
    stopper.signal.throwIfAborted()
    void database.failed.then((reason) => stopper.stop(`The embedded database ended: ${reason}. Stopping.`, 1))
    for (const note of database.notes) print(`  ${note}`)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    print(
      `Faultline ${config.version} is ready at ${service.publicUrl} (${config.mode} mode, data in ${database.dataDir}, ${seconds} s)`,
    )
  })
}

async function open(given: Config, database: OpenDatabase, stopper: Stopper): Promise<Service> {
  const config = { ...given, dataDir: database.dataDir }
  stopper.signal.throwIfAborted()
  const app = await operatorError(() => createApp(config, database.connectionString, CONNECTIONS, 'serve'))
  // Statements that still run after that end with their connections.
  stopper.onStop(() => withinGrace(APP_GRACE_MS, app.close()).then(() => {}))
  stopper.signal.throwIfAborted()
  const service = await operatorError(() => startService(app, database.connectionString, { digestion: 'thread' }))
  stopper.onStop(() => service.close())
  return service
}
