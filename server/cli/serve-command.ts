import { createApp } from '../app.ts'
import { readConfig, type Config, type ProcessRole } from '../config.ts'
import { DatabaseStartError } from '../storage/database-start-error.ts'
import { tuneCollector } from './collector.ts'
import { migrateDatabase, openDatabase, type OpenDatabase } from './database.ts'
import { startService, type Service } from './service.ts'

/** Connections of the main thread: intake, API and pages. */
const CONNECTIONS = 10

/** `faultline serve`: database → migrations → service → one line with the address; stops on the first signal. */
export async function serveCommand(roles: readonly ProcessRole[] | null): Promise<void> {
  tuneCollector()
  const environment = readConfig()
  const startedAt = performance.now()
  const config = roles === null ? environment : { ...environment, roles }
  const say = (line: string): void => console.log(line)
  const stop = stopper()
  const database = await openDatabase(config, say)
  stop.last(() => database.stop())
  try {
    await migrateDatabase(database.connectionString, say)
    const service = await open(config, database, stop)
    void database.failed.then((reason) => stop.now(`The database is gone: ${reason}.`, 1))
    for (const note of database.notes) say(`  ${note}`)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    say(
      `Faultline ${config.version} is ready at ${service.publicUrl} (${config.mode} mode, data in ${database.dataDir}, ${seconds} s)`,
    )
  } catch (error) {
    await stop.now(null, 1)
    throw error
  }
}

async function open(given: Config, database: OpenDatabase, stop: Stopper): Promise<Service> {
  const config = { ...given, dataDir: database.dataDir }
  const app = await operatorError(() => createApp(config, database.connectionString, CONNECTIONS, 'serve'))
  stop.last(() => app.close())
  const service = await operatorError(() => startService(app, database.connectionString, { digestion: 'thread' }))
  stop.last(() => service.close())
  return service
}

/** Failures of starting are the operator's to mend: one line, no stack. */
async function operatorError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const code = 'code' in error ? error.code : ''
    const address = 'address' in error && 'port' in error ? `${String(error.address)}:${String(error.port)}` : ''
    if (code === 'EADDRINUSE')
      throw new DatabaseStartError(`${address} is taken by another program: choose another PORT.`, { cause: error })
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
      throw new DatabaseStartError(`Cannot listen on ${address}: ${error.message}.`, { cause: error })
    if (error.message.startsWith('ENCRYPTION_KEYS')) throw new DatabaseStartError(error.message, { cause: error })
    throw error
  }
}

type Stopper = {
  /** Registers what to undo; undone in reverse order. */
  last(work: () => Promise<void>): void
  now(reason: string | null, code: number): Promise<void>
}

/** First signal: stop taking work, finish what runs, stop the database. Second signal: leave at once. */
function stopper(): Stopper {
  const works: (() => Promise<void>)[] = []
  let stopping: Promise<void> | null = null
  const now = (reason: string | null, code: number): Promise<void> => {
    stopping ??= (async () => {
      if (reason !== null) console.log(reason)
      for (const work of works.reverse()) {
        await work().catch((error: unknown) => {
          console.error(error)
          process.exitCode = 1
        })
      }
      process.exitCode ??= code
    })()
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping !== null) process.exit(130)
      void now('Stopping. Once more to leave at once.', 0).then(() => process.exit())
    })
  }
  return { last: (work) => void works.push(work), now }
}
