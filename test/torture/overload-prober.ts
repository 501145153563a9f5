import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { Histogram, runLoad } from '#bench/load.ts'
import { makeEvents } from '#bench/payloads.ts'

/**
 * Body of a thread: a small event every twenty milliseconds, sent when it is due, on connections of its own. A message asks for
 * the figures since the one before; `stop` ends it.
 */

export type ProberFigures = {
  readonly accepted: number
  readonly acceptedP99Ms: number
  /** 429 and 503. */
  readonly refused: number
  readonly refusedP50Ms: number
  readonly refusedP99Ms: number
  /** Other statuses and broken connections. */
  readonly others: number
  readonly ids: readonly string[]
}

const RATE = 50
const { url, projectNumber, publicKey } = z
  .object({ url: z.string(), projectNumber: z.number(), publicKey: z.string() })
  .parse(workerData)
let [accepted, refused, others] = [new Histogram(), new Histogram(), 0]
let ids: string[] = []
let isStopped = false

parentPort?.on('message', (what) => {
  parentPort?.postMessage({
    accepted: accepted.count,
    acceptedP99Ms: accepted.percentile(99),
    refused: refused.count,
    refusedP50Ms: refused.percentile(50),
    refusedP99Ms: refused.percentile(99),
    others,
    ids,
  } satisfies ProberFigures)
  ;[accepted, refused, others] = [new Histogram(), new Histogram(), 0]
  ids = []
  isStopped = what === 'stop'
})

await runLoad({
  url,
  projectNumber,
  publicKey,
  events: makeEvents({ sizeBytes: 1_000, issues: 5, variantsPerIssue: 1, seed: 43 }),
  connections: 64,
  ratePerSecond: RATE,
  durationMs: 3_600_000,
  isOver: () => isStopped,
  onAccepted: (id) => ids.push(id),
  onAnswer: (status, ms) => {
    if (status === 200) accepted.add(ms)
    else if (status === 429 || status === 503) refused.add(ms)
    else others++
  },
})
parentPort?.close()
