import { parentPort, workerData } from 'node:worker_threads'
import { createApp } from '../app.ts'
import { collectStart } from './collector.ts'
import type { Config } from '../../config/config.ts'
import { symbolicateFor } from '../../symbols/symbolication/symbolicator.ts'
import { createDigester } from '../../ingest/digest/digester.ts'
import { spoolPart } from '../../ingest/spool/entry.ts'
import type { HandOverEnd } from '../../ingest/spool/hand-over.ts'

/** The digest thread. It has its own App and shares the database and the hand-over with the main thread. */

export type DigestThreadData = {
  readonly config: Config
  readonly connectionString: string
  /** Whole parts of the spool. */
  readonly shards: readonly number[]
  /** Null when this process has no intake. */
  readonly handedOver: HandOverEnd | null
}
/** Message to the thread. */
export type DigestThreadCommand = 'stop'
/** Message from the thread: its sums so far. */
export type DigestThreadReport = {
  readonly entries: number
  readonly events: number
  readonly duplicates: number
  readonly quarantined: number
  readonly batches: number
}

const REPORT_EVERY_MS = 1_000
/** Per part of the spool one that commits and one that reads. */
const CONNECTIONS_PER_PART = 2
/** One for heavy rows, and one for the locks. */
const OTHER_CONNECTIONS = 2

const { config, connectionString, shards, handedOver } = workerData as DigestThreadData
const port = parentPort
if (port === null) throw new Error('digest-thread.ts runs as a worker thread only')

const stopping = new AbortController()
port.on('message', (command: DigestThreadCommand) => {
  if (command === 'stop') stopping.abort()
})

const connections = new Set(shards.map(spoolPart)).size * CONNECTIONS_PER_PART + OTHER_CONNECTIONS
const app = await createApp(config, connectionString, connections, 'digest')
const digester = await createDigester(app, handedOver, symbolicateFor, shards)
let reported = -1
const report = (): void => {
  if (digester.figures.batches === reported) return
  reported = digester.figures.batches
  port.postMessage({ ...digester.figures } satisfies DigestThreadReport)
}
const reporting = setInterval(report, REPORT_EVERY_MS)

collectStart()
await digester.run(stopping.signal)

clearInterval(reporting)
report()
await digester.close()
await app.close()
port.close()
