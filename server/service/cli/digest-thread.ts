import { parentPort, workerData } from 'node:worker_threads'
import { createApp } from '../app.ts'
import { collectWhenCalm } from './collector.ts'
import type { Config } from '../../config/config.ts'
import { symbolicateFor } from '../../symbols/symbolication/symbolicator.ts'
import { addSums, createDigester, type DigestSums, NO_SUMS } from '../../ingest/digest/digester.ts'
import { PART_NUMBERS } from '../../ingest/spool/entry.ts'
import type { HandOverEnd } from '../../ingest/spool/hand-over.ts'

/** A digest thread. It has its own App and shares the database and the hand-over with the main thread. */

export type DigestThreadData = DigestThreadShards & { readonly config: Config; readonly connectionString: string }
/** The shards of a thread; also as a message when they change. */
export type DigestThreadShards = {
  readonly shards: readonly number[]
  /** Null when this process has no intake. */
  readonly handedOver: HandOverEnd | null
}
/** Message to the thread. */
export type DigestThreadCommand = 'stop' | DigestThreadShards
/** Message from the thread: its sums so far, and the shards that it has locked. */
export type DigestThreadReport = { readonly sums: DigestSums; readonly shards: readonly number[] }

const REPORT_EVERY_MS = 1_000
/** Per part of the spool one that commits and one that reads, one for heavy rows, and one for the locks. */
const CONNECTIONS = PART_NUMBERS.length * 2 + 2

const { config, connectionString } = workerData as DigestThreadData
const port = parentPort
if (port === null) throw new Error('digest-thread.ts runs as a worker thread only')

let next: DigestThreadShards = workerData as DigestThreadData
let isStopping = false
let interrupt = new AbortController()
port.on('message', (command: DigestThreadCommand) => {
  if (command === 'stop') isStopping = true
  else next = command
  interrupt.abort()
})

const app = await createApp(config, connectionString, CONNECTIONS, 'digest')
let past = NO_SUMS
const memory = collectWhenCalm()
while (!isStopping) {
  const { shards, handedOver } = next
  interrupt = new AbortController()
  const digester = await createDigester(app, handedOver, symbolicateFor, shards)
  let reported = ''
  const report = (): void => {
    const held = digester.shards()
    const state = `${digester.figures().batches} ${held.join()}`
    if (state === reported) return
    reported = state
    memory.worked()
    port.postMessage({ sums: addSums(past, digester.figures()), shards: held } satisfies DigestThreadReport)
  }
  const reporting = setInterval(report, REPORT_EVERY_MS)
  await digester.run(interrupt.signal)
  clearInterval(reporting)
  report()
  past = addSums(past, digester.figures())
  await digester.close()
}
await app.close()
port.close()
