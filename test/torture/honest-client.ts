import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { Histogram } from '#bench/load.ts'
import { sendRaw } from './raw-http.ts'

/** Body of a thread: valid requests, one after the other on new connections; a message asks for the figures. */

export type HonestFigures = { readonly p99Ms: number; readonly count: number; readonly bad: number }

const { url, path } = z.object({ url: z.string(), path: z.string() }).parse(workerData)
const body = '{}\n{"type":"event"}\n{"message":"honest"}'
const bytes = Buffer.from(
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
)
let histogram = new Histogram()
let bad = 0
let stopped = false

parentPort?.on('message', (what) => {
  parentPort?.postMessage({ p99Ms: histogram.percentile(99), count: histogram.count, bad } satisfies HonestFigures)
  histogram = new Histogram()
  bad = 0
  stopped = what === 'stop'
  if (stopped) parentPort?.close()
})

while (!stopped) {
  const { statuses, ms } = await sendRaw(url, bytes, { patienceMs: 10_000, oneAnswer: true })
  if (statuses[0] === 200) histogram.add(ms)
  else bad++
  await delay(5)
}
