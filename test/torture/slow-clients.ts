import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { publish } from '#server/platform/storage/bus.ts'
import { Database } from '#server/platform/storage/database.ts'
import { createPool } from '#server/platform/storage/pool.ts'
import { honestClient } from './honest.ts'
import { envelopePath, startTarget, type Target } from './target.ts'
import { atMost, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

/** Seconds until each kind is closed (docs/reliability.md, T-13); one is the interval of the check. */
const HEADERS_GOAL_S = 11
const BODIES_GOAL_S = 31
const READERS_GOAL_S = 60
const MAX_SLOWER = 2
const DRIP_EVERY_MS = 1_000

export type Drip = {
  readonly opened: number
  /** Seconds from the connection to its end, of the slowest; open ones count as the patience. */
  readonly slowestS: number
  readonly stillOpen: number
}

/**
 * Opens connections that send `head` and then a byte a second, from many addresses, and waits for their ends.
 * @param patienceS how long to wait for the last one
 */
export async function drip(url: string, head: string, count: number, patienceS: number): Promise<Drip> {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  let [opened, slowestS] = [0, 0]
  for (let i = 0; i < count; i++) {
    let startedMs = performance.now()
    // One address may have a thousand connections; on Linux all of 127.0.0.0/8 is this machine.
    const localAddress = process.platform === 'linux' ? `127.0.${1 + (i % 50)}.1` : undefined
    const socket = connect({
      host: hostname,
      port: Number(port),
      ...(localAddress === undefined ? {} : { localAddress }),
    })
    open.add(socket)
    socket.on('connect', () => {
      opened++
      startedMs = performance.now()
      socket.write(head)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      open.delete(socket)
      slowestS = Math.max(slowestS, (performance.now() - startedMs) / 1000)
    })
    socket.resume()
    if (i % 100 === 99) await delay(10)
  }
  const dripping = setInterval(() => {
    for (const socket of open) if (socket.writable) socket.write('a')
  }, DRIP_EVERY_MS)
  const patienceUntil = performance.now() + patienceS * 1000
  while (open.size > 0 && performance.now() < patienceUntil) await delay(50)
  clearInterval(dripping)
  const stillOpen = open.size
  if (stillOpen > 0) slowestS = patienceS
  for (const socket of open) socket.destroy()
  return { opened, slowestS, stillOpen }
}

/** T-13. Claim: each connection is closed in time, and other requests hardly slow down. */
export async function slowClients({ full, options }: TortureArgs): Promise<Verdict> {
  const sockets = Number(options['sockets'] ?? (full ? 2_000 : 1_000))
  const readers = Number(options['readers'] ?? (full ? 500 : 100))
  const folder = mkdtempSync(join(tmpdir(), 'faultline-slow-'))
  chmodSync(folder, 0o755)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} })
  const { service, project, url } = await startTarget({
    dataDir: join(folder, 'data'),
    env: { DATABASE_URL: postgres.connectionString },
  })
  try {
    const target: Target = { url, project }
    const path = envelopePath(target)
    const client = honestClient(target)
    // The first requests of a process cost more than later ones.
    await delay(2_000)
    await client.figures('next')
    await delay(full ? 20_000 : 6_000)
    const idle = await client.figures('next')
    const slow = slowReaders(url, project.cookie, readers, postgres.connectionString)
    const [headers, bodies, read] = await Promise.all([
      drip(url, `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-slow: `, sockets, HEADERS_GOAL_S + 10),
      drip(
        url,
        `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n{}\n`,
        sockets,
        BODIES_GOAL_S + 10,
      ),
      slow,
    ])
    const honest = await client.figures('next')
    // Other load on the machine may have changed meanwhile: idle is the worse of before and after.
    await delay(full ? 20_000 : 6_000)
    const after = await client.figures('stop')
    const idleP99Ms = Math.max(idle.p99Ms, after.p99Ms)
    print(
      `  ${headers.opened} + ${bodies.opened} dripping sockets, ${read.opened} readers that do not read; honest requests: ${idle.count} idle, ${honest.count} meanwhile`,
    )
    if (!full) print(`  the full form opens 2,000 + 2,000 + 500; this one ${sockets} + ${sockets} + ${readers}`)
    return {
      claims: [
        claim(
          `${sockets} sockets each`,
          `${headers.opened} + ${bodies.opened}`,
          headers.opened + bodies.opened === 2 * sockets,
        ),
        atMost('dripping headers: the last one closed', HEADERS_GOAL_S, headers.slowestS, ' s'),
        atMost('dripping bodies: the last one closed', BODIES_GOAL_S, bodies.slowestS, ' s'),
        atMost(
          `${read.opened} readers of the stream that do not read: the last one closed`,
          READERS_GOAL_S,
          read.slowestS,
          ' s',
        ),
        claim(
          `honest p99 ≤${MAX_SLOWER}× idle`,
          `${honest.p99Ms.toFixed(1)} of ${idleP99Ms.toFixed(1)} ms`,
          honest.p99Ms <= idleP99Ms * MAX_SLOWER,
        ),
        none('honest requests refused', honest.bad + idle.bad + after.bad),
      ],
    }
  } finally {
    await service.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const Me = z.object({ org: z.object({ id: z.string() }) })

/**
 * Clients that open /api/live and never read it, while messages come faster than a connection can buffer: the system
 * buffers a few hundred kilobytes for each before the server can notice.
 */
async function slowReaders(url: string, cookie: string, count: number, database: string): Promise<Drip> {
  const { hostname, port } = new URL(url)
  const { org } = Me.parse(await (await fetch(`${url}/api/me`, { headers: { cookie } })).json())
  const open = new Set<Socket>()
  let [opened, slowestS] = [0, 0]
  for (let i = 0; i < count; i++) {
    const startedMs = performance.now()
    const socket = connect({ host: hostname, port: Number(port) })
    open.add(socket)
    socket.on('connect', () => socket.write(`GET /api/live HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`))
    socket.once('data', () => {
      opened++
      socket.pause()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      open.delete(socket)
      slowestS = Math.max(slowestS, (performance.now() - startedMs) / 1000)
    })
  }
  const db = new Database(createPool({ connectionString: database, name: 'torture', max: 1, onError: () => {} }))
  let round = 0
  const ids = Array.from({ length: 150 }, (_, i) => `01890000-0000-7000-8000-${String(i).padStart(12, '0')}`)
  const patienceUntil = performance.now() + (READERS_GOAL_S + 10) * 1000
  while (open.size > 0 && performance.now() < patienceUntil) {
    // Requests of different projects, so that they are not merged into one.
    for (let i = 0; i < 8; i++) {
      const project = `01890000-0000-7000-9000-${String(round++ % 1000).padStart(12, '0')}`
      const message = { kind: 'issues', project_id: project, issue_ids: ids, new_issue_ids: [], event_count: 1 }
      await publish(db, 'live', [org.id, message])
    }
    await delay(250)
    // Without reading, only a write shows that the other side is gone; empty lines have no meaning.
    for (const socket of open) if (socket.writable) socket.write('\r\n')
  }
  await db.close()
  const stillOpen = open.size
  if (stillOpen > 0) slowestS = READERS_GOAL_S + 10
  for (const socket of open) socket.destroy()
  return { opened, slowestS, stillOpen }
}
