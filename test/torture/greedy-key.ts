import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { setUpSecondOrg } from '#bench/setup-project.ts'
import { honestClient } from './honest.ts'
import { envelopePath, forgetPeak, peakMiB, residentMiB, startTarget } from './target.ts'
import { atMost, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

/** Goals of docs/reliability.md, T-47. */
const MIN_HONEST_MS = 250
const MAX_GROWTH_MIB = 384
const BODY_BYTES = 19 * 1024 * 1024

/**
 * T-47. Claim: sockets with one public key that send large bodies and stop before the end hold the memory of that key's
 * share, and no longer than a few seconds; events of another organisation are not refused.
 */
export async function greedyKey({ full, options }: TortureArgs): Promise<Verdict> {
  const count = Number(options['sockets'] ?? (full ? 100 : 40))
  const { service, project, url } = await startTarget()
  const other = await setUpSecondOrg(url)
  const honest = honestClient({ url, project: other })
  const sockets: Attack[] = []
  try {
    await delay(2_000)
    await honest.figures('next')
    await delay(4_000)
    const idle = await honest.figures('next')
    const idleMiB = residentMiB(service.pid)
    forgetPeak(service.pid)
    const body = randomBytes(BODY_BYTES)
    for (let n = 0; n < count; n++) sockets.push(attack(url, envelopePath({ url, project }), body))
    await delay(full ? 40_000 : 20_000)
    const meanwhile = await honest.figures('stop')
    const refused = sockets.filter(({ answer }) => answer().startsWith('HTTP/1.1 429')).length
    const late = sockets.filter(({ answer }) => answer().startsWith('HTTP/1.1 400')).length
    const open = sockets.filter(({ answer, isClosed }) => answer() === '' && !isClosed()).length
    print(`  ${count} sockets: ${refused} refused with 429, ${late} closed because they stopped, ${open} still open`)
    return {
      claims: [
        claim('sockets over the share of the key are refused', refused, refused > 0),
        none('sockets that stopped are still open', open),
        atMost('honest p99', Math.max(2 * idle.p99Ms, MIN_HONEST_MS), meanwhile.p99Ms, ' ms'),
        none('honest requests refused', meanwhile.bad),
        atMost('memory grows by', MAX_GROWTH_MIB, peakMiB(service.pid) - idleMiB, ' MiB'),
      ],
    }
  } finally {
    for (const { socket } of sockets) socket.destroy()
    await service.stop()
  }
}

type Attack = { readonly socket: Socket; answer(): string; isClosed(): boolean }

/** Announces a body and sends all but its last bytes. */
function attack(url: string, path: string, body: Buffer): Attack {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  let answer = ''
  let isClosed = false
  socket.on('error', () => {})
  socket.on('close', () => (isClosed = true))
  socket.on('data', (chunk) => (answer += chunk.toString()))
  socket.on('connect', () => {
    socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`)
    socket.write(body.subarray(0, -100))
  })
  return { socket, answer: () => answer, isClosed: () => isClosed }
}
