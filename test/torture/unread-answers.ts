import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { honestClient } from './honest.ts'
import { forgetPeak, peakMiB, residentMiB, startTarget } from './target.ts'
import { atMost, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

/** Goals of docs/reliability.md, T-46. */
const MAX_GROWTH_MIB = 256
const MAX_DESCRIPTORS = 1_000
const MAX_LEFT = 0.1
const BACK_WITHIN_S = 60
const MIN_HONEST_MS = 250

/** Requests that clients send without a session, and how often on one connection. */
const ATTACKS = [
  { name: 'documents, pipelined', path: '/docs/json', sockets: 40, requests: 300 },
  { name: 'documents as YAML, pipelined', path: '/docs/yaml', sockets: 40, requests: 300 },
  { name: 'static files, pipelined', path: null, sockets: 40, requests: 300 },
  { name: 'small answers, pipelined on many connections', path: '/healthz', sockets: 400, requests: 300 },
  { name: 'one document on each of many connections', path: '/api/openapi.json', sockets: 400, requests: 1 },
] as const

/** T-46. Claim: clients that send requests and read no answer cost little memory and few descriptors, and delay no other client. */
export async function unreadAnswers({ full }: TortureArgs): Promise<Verdict> {
  const { service, project, url } = await startTarget()
  const honest = honestClient({ url, project })
  const { pid } = service
  try {
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await (await fetch(`${url}/login`)).text())?.[1] ?? '/mark.svg'
    await delay(2_000)
    await honest.figures('next')
    await delay(5_000)
    const idle = await honest.figures('next')
    const idleMiB = residentMiB(pid)
    const idleDescriptors = descriptors(pid)
    forgetPeak(pid)
    let most = 0
    let slowestMs = 0
    let bad = 0
    for (const { name, path, sockets, requests } of ATTACKS) {
      const end = attack(url, path ?? script, sockets, requests)
      for (let step = 0; step < (full ? 300 : 60); step++) {
        await delay(100)
        most = Math.max(most, descriptors(pid))
      }
      const meanwhile = await honest.figures('next')
      slowestMs = Math.max(slowestMs, meanwhile.p99Ms)
      bad += meanwhile.bad
      const honestText = `honest p99 ${meanwhile.p99Ms.toFixed(0)} ms, ${meanwhile.bad} refused`
      print(`  ${name}: ${peakMiB(pid).toFixed(0)} MiB, ${most} descriptors at most, ${honestText}`)
      end()
    }
    await honest.figures('stop')
    const growth = peakMiB(pid) - idleMiB
    const [leftMiB, leftDescriptors] = await back(pid, idleMiB, idleDescriptors)
    const honestGoal = Math.max(2 * idle.p99Ms, MIN_HONEST_MS)
    return {
      claims: [
        atMost('memory grows by', MAX_GROWTH_MIB, growth, ' MiB'),
        atMost('descriptors', MAX_DESCRIPTORS, most),
        claim(`memory back to ±10 % in ${BACK_WITHIN_S} s`, `${(leftMiB * 100).toFixed(0)} %`, leftMiB <= MAX_LEFT),
        claim('descriptors back', `${(leftDescriptors * 100).toFixed(0)} %`, leftDescriptors <= MAX_LEFT),
        atMost('honest p99', honestGoal, slowestMs, ' ms'),
        none('honest requests refused', bad),
      ],
    }
  } finally {
    await service.stop()
  }
}

/** Connections that send requests and read nothing; each is opened again when it is closed. @returns a function that ends them */
function attack(url: string, path: string, count: number, requests: number): () => void {
  const { hostname, port } = new URL(url)
  const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(requests)
  const open = new Set<Socket>()
  let ended = false
  const add = (): void => {
    if (ended) return
    const socket = connect({ host: hostname, port: Number(port) })
    open.add(socket)
    socket.on('error', () => {})
    // Without a listener the data stays in the connection.
    socket.on('connect', () => socket.write(request))
    socket.on('close', () => {
      open.delete(socket)
      setTimeout(add, 5)
    })
  }
  for (let n = 0; n < count; n++) add()
  return () => {
    ended = true
    for (const socket of open) socket.destroy()
  }
}

/** Waits until memory and descriptors are near those of before. @returns by how much they still exceed them */
async function back(pid: number, idleMiB: number, idleDescriptors: number): Promise<[number, number]> {
  const left = (): [number, number] => [residentMiB(pid) / idleMiB - 1, descriptors(pid) / idleDescriptors - 1]
  for (let second = 0; second < BACK_WITHIN_S; second++) {
    if (Math.max(...left()) <= MAX_LEFT) break
    await delay(1_000)
  }
  return left()
}

const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length
