import { Worker } from 'node:worker_threads'
import type { HonestFigures } from './honest-client.ts'
import { envelopePath, type Target } from './target.ts'

export type HonestClient = {
  /** Figures since the call before; `stop` ends the client. */
  figures(what: 'next' | 'stop'): Promise<HonestFigures>
}

/** Sends valid requests from another thread: this one is busy with the attack. */
export function honestClient(target: Target): HonestClient {
  const worker = new Worker(new URL('./honest-client.ts', import.meta.url), {
    workerData: { url: target.url, path: envelopePath(target) },
  })
  return {
    figures: (what) =>
      new Promise((resolve, reject) => {
        worker.once('error', reject)
        worker.once('message', (figures: HonestFigures) => resolve(figures))
        worker.postMessage(what)
      }),
  }
}
