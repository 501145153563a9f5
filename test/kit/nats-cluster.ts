import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstream, type JetStreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import type { TestAuthority } from './certificates.ts'
import { freePorts } from './free-port.ts'
import { endBy, send } from './processes.ts'
import { waitFor } from './wait.ts'

/** Three servers of NATS that write each message to disk before they acknowledge it. */
export type NatsCluster = {
  /** For SPOOL_URL. */
  readonly url: string
  /** Kills a server. */
  kill(index: number): Promise<void>
  /** Starts a server that was killed. */
  start(index: number): void
  /** Stops a server without ending its connections, as a network does that drops packets; until {@link thaw}. */
  freeze(index: number): void
  thaw(index: number): void
  /** The server that leads a stream; -1 without one. */
  leader(stream: string): Promise<number>
  manager(): Promise<JetStreamManager>
  close(): Promise<void>
}

const SERVERS = [0, 1, 2] as const
const PATIENCE_MS = 60_000

export type NatsClusterOptions = {
  readonly user: string
  readonly password: string
  /** Where each server keeps its messages. Default: a folder that goes with the cluster. */
  readonly stores?: readonly string[]
  /** Clients must use TLS and trust the authority of this certificate. */
  readonly tls?: TestAuthority
}

/** @param program `nats-server` */
export async function startNatsCluster(
  program: string,
  { user, password, stores = [], tls }: NatsClusterOptions,
): Promise<NatsCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-nats-'))
  const ports = await freePorts(SERVERS.length * 2)
  const clientPort = (index: number): number => ports[index] ?? 0
  const routePort = (index: number): number => ports[index + SERVERS.length] ?? 0
  const routes = SERVERS.map((index) => `nats://127.0.0.1:${routePort(index)}`).join(', ')
  let security = ''
  if (tls !== undefined) {
    const { key, cert } = tls.issue()
    for (const [name, text] of Object.entries({ key, cert })) writeFileSync(join(folder, `${name}.pem`), text)
    security = `tls { cert_file: "${join(folder, 'cert.pem')}", key_file: "${join(folder, 'key.pem')}" }`
  }
  for (const index of SERVERS)
    writeFileSync(
      join(folder, `${index}.conf`),
      `server_name: n${index}
listen: 127.0.0.1:${clientPort(index)}
jetstream { store_dir: "${stores[index] ?? join(folder, String(index))}", sync_interval: always }
${security}
authorization { user: "${user}", password: "${password}" }
cluster { name: faultline, listen: 127.0.0.1:${routePort(index)}, routes: [${routes}] }
`,
    )
  const processes = new Map<number, ChildProcess>()
  let connection: NatsConnection | null = null
  const close = async (): Promise<void> => {
    await connection?.close()
    for (const one of processes.values()) {
      if (one.pid !== undefined) send(one.pid, 'SIGCONT')
      await endBy(one, 'SIGKILL')
    }
    rmSync(folder, { recursive: true, force: true })
  }
  const start = (index: number): void => {
    const one = spawn(program, ['-c', join(folder, `${index}.conf`)], { stdio: 'ignore' })
    // A program that cannot be run: the cluster then has no leader.
    one.on('error', () => processes.delete(index))
    processes.set(index, one)
  }
  for (const index of SERVERS) start(index)
  const servers = SERVERS.map((index) => `127.0.0.1:${clientPort(index)}`)
  const manager = async (): Promise<JetStreamManager> => {
    connection ??= await connect({
      servers,
      user,
      pass: password,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      ignoreAuthErrorAbort: true,
      tls: tls === undefined ? null : { ca: tls.cert },
    })
    return jetstream(connection, { timeout: 2_000 }).jetstreamManager()
  }
  try {
    await waitFor('the cluster to have a leader', () => manager().then(Boolean, () => false), PATIENCE_MS)
  } catch (error) {
    await close()
    throw error
  }
  const signal = (index: number, name: NodeJS.Signals): void => {
    const pid = processes.get(index)?.pid
    if (pid !== undefined) send(pid, name)
  }
  return {
    url: `${tls === undefined ? 'nats' : 'tls'}://${user}:${encodeURIComponent(password)}@${servers.join(',')}`,
    async kill(index) {
      const one = processes.get(index)
      if (one !== undefined) await endBy(one, 'SIGKILL')
    },
    start,
    freeze: (index) => signal(index, 'SIGSTOP'),
    thaw: (index) => signal(index, 'SIGCONT'),
    async leader(stream) {
      const info = await manager()
        .then((one) => one.streams.info(stream))
        .catch(() => null)
      return SERVERS.findIndex((index) => info?.cluster?.leader === `n${index}`)
    },
    manager,
    close,
  }
}
