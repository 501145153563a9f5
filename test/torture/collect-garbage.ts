import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { freePort } from '../kit/free-port.ts'
import { residentMiB } from './target.ts'

/**
 * Memory that a running service really holds: before a collection there are tens of megabytes of garbage. Starts a
 * collection in every thread, by the debugger's protocol.
 */
export type Collector = {
  /** Arguments for the start of the service. */
  readonly env: Readonly<Record<string, string>>
  /** Resident memory after a full collection, MiB. */
  settledMiB(pid: number): Promise<number>
}

export async function createCollector(): Promise<Collector> {
  const port = await freePort()
  return {
    env: { NODE_OPTIONS: `--inspect-port=127.0.0.1:${port}` },
    async settledMiB(pid) {
      process.kill(pid, 'SIGUSR1')
      const debuggee = await addressOf(port)
      for (let times = 0; times < 2; times++) await collect(debuggee)
      // Pages are returned to the system a little later.
      let lowest = Number.POSITIVE_INFINITY
      for (let waited = 0; waited < 3_000; waited += 250) {
        await delay(250)
        lowest = Math.min(lowest, residentMiB(pid))
      }
      return lowest
    },
  }
}

const Targets = z.array(z.object({ webSocketDebuggerUrl: z.string() })).min(1)

async function addressOf(port: number): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    try {
      const targets = Targets.parse(await (await fetch(`http://127.0.0.1:${port}/json/list`)).json())
      return targets[0]?.webSocketDebuggerUrl ?? ''
    } catch (error) {
      if (attempt === 100) throw error
      await delay(20)
    }
  }
}

const Message = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.object({ sessionId: z.string().optional() }).optional(),
})

function collect(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address)
    const call = (id: number, method: string, params?: unknown): void =>
      socket.send(JSON.stringify({ id, method, params }))
    const timer = setTimeout(() => socket.close(), 5_000)
    socket.addEventListener('open', () => {
      call(1, 'NodeWorker.enable', { waitForDebuggerOnStart: false })
      call(2, 'HeapProfiler.collectGarbage')
    })
    socket.addEventListener('message', ({ data }) => {
      const message = Message.parse(JSON.parse(String(data)))
      if (message.method === 'NodeWorker.attachedToWorker') {
        const inner = JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' })
        call(3, 'NodeWorker.sendMessageToWorker', { sessionId: message.params?.sessionId, message: inner })
      }
      if (message.method === 'NodeWorker.receivedMessageFromWorker') socket.close()
    })
    socket.addEventListener('error', () => reject(new Error('the debugger cannot be reached')))
    socket.addEventListener('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
