import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { random } from '#bench/payloads.ts'
import { treeOf } from '#bench/process-tree.ts'
import { startService } from '#bench/service.ts'
import { setUpProject } from '#bench/setup-project.ts'
import { type Binaries, prepareBinaries } from '#server/platform/embedded-postgres/binaries.ts'
import {
  CLUSTER_DATABASE,
  CLUSTER_USER,
  ensureCluster,
  TOOL_ENVIRONMENT,
} from '#server/platform/embedded-postgres/cluster.ts'
import { type Postmaster, startPostmaster } from '#server/platform/embedded-postgres/postmaster.ts'
import { initUser, serverUser } from '#server/platform/embedded-postgres/run-as.ts'
import { serverSettings, SOCKET_PORT } from '#server/platform/embedded-postgres/settings.ts'
import { waitUntilDigested } from './target.ts'
import { atLeast, atMost, claim, print, type TortureArgs, type Verdict } from './torture.ts'
import { claimsOf, examineDatabase, startWriters, sumOfWriters, type Writers } from './writers.ts'

const MAX_UPTIME_MS = 3_000
const PATIENCE_MS = 60_000
/** From the promotion to the next acknowledgement. */
const BACK_GOAL_S = 15

/**
 * S-03: two services use a primary whose commits wait for a standby. The primary is killed under load, the standby is
 * promoted and gets its address; then a new standby is made of a copy of it, again under load. Claim: all that was
 * acknowledged is on the promoted server, once.
 */
export async function standby({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const rounds = Number(options['rounds'] ?? (full ? 10 : 2))
  const rand = random(seed)
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const user = serverUser(join(folder, 'absent'))
  const binaries = prepareBinaries(options['postgres'] === '15' ? 'pg15' : 'pg18', folder, [user, initUser()])
  // As the address of a pair, which an operator or a cluster manager moves.
  const address = join(folder, 'address')
  const connectionString = connectionTo(address)
  let primary = await firstServer(folder, binaries)
  point(address, primary)
  const servers: Server[] = [primary]
  const writers: Writers[] = []
  const services = []
  try {
    const env = {
      DATABASE_URL: connectionString,
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      RATE_LIMIT_SCALE: '0',
      FAULTLINE_CANARY_MINUTES: '0',
      LOG_LEVEL: 'silent',
    }
    for (const name of ['one', 'two']) services.push(await startService({ dataDir: join(folder, name), env }))
    const urls = services.map(({ url }) => url)
    const project = await setUpProject(urls[0] ?? '')
    const sideFile = join(folder, 'acknowledged.txt')
    for (const [index, url] of urls.entries())
      writers.push(startWriters(project, { count: 4, seed: seed + index, sideFile, url }))
    const accepted = (): number => writers.reduce((sum, writer) => sum + writer.accepted, 0)
    let slowestS = 0
    for (let round = 1; round <= rounds; round++) {
      const next = await makeStandby(primary, folder, binaries, round)
      servers.push(next)
      await delay(500 + rand() * MAX_UPTIME_MS)
      const before = accepted()
      for (const pid of treeOf(primary.postmaster.pid)) kill(pid)
      await primary.postmaster.ended
      await ask(next, 'select pg_promote(true, 60)')
      point(address, next)
      const promotedMs = performance.now()
      const since = accepted()
      while (accepted() === since) {
        if (performance.now() - promotedMs > PATIENCE_MS) throw new Error('nothing is acknowledged after the promotion')
        await delay(10)
      }
      const backS = (performance.now() - promotedMs) / 1000
      slowestS = Math.max(slowestS, backS)
      print(
        `  round ${round}: ${before} acknowledged before the kill, acknowledged again ${backS.toFixed(1)} s after the promotion`,
      )
      primary = next
    }
    for (const writer of writers) writer.stopped = true
    for (const writer of writers) await writer.done
    await waitUntilDigested(urls[0] ?? '')
    const exits = await Promise.all(services.map((service) => service.stop('SIGTERM')))
    const found = await examineDatabase(connectionString, sideFile)
    return {
      claims: [
        atLeast('standbys promoted', rounds, servers.length - 1),
        ...claimsOf(sumOfWriters(writers), found),
        atMost('acknowledges again after a promotion', BACK_GOAL_S, slowestS, ' s'),
        claim(
          'the services keep running',
          `exit codes ${exits.join(', ')}`,
          exits.every((code) => code === 0),
        ),
      ],
    }
  } finally {
    for (const writer of writers) writer.stopped = true
    await Promise.all(services.map((service) => service.stop('SIGKILL').catch(() => null)))
    await Promise.all(servers.map(({ postmaster }) => postmaster.stop(2_000)))
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}

type Server = { readonly clusterDir: string; readonly sockets: string; readonly postmaster: Postmaster }

async function firstServer(folder: string, binaries: Binaries): Promise<Server> {
  const clusterDir = join(folder, 'server-0')
  const owner = serverUser(clusterDir)
  await ensureCluster({ clusterDir, binaries, owner, sync: true, signal: new AbortController().signal })
  return startServer(clusterDir, binaries, [])
}

async function startServer(clusterDir: string, binaries: Binaries, settings: readonly string[]): Promise<Server> {
  const user = serverUser(clusterDir)
  const sockets = `${clusterDir}-run`
  mkdirSync(sockets, { mode: 0o700 })
  if (user !== undefined) chownSync(sockets, user.uid, user.gid)
  const own = ['wal_level=replica', 'max_wal_senders=4', 'wal_keep_size=1GB', 'hot_standby=on', 'max_connections=100']
  const postmaster = await startPostmaster({
    postgres: binaries.postgres,
    clusterDir,
    user,
    settings: [
      ...serverSettings({ socketDir: sockets, majorVersion: binaries.majorVersion, durability: 'full' }),
      ...[...own, ...settings].flatMap((setting) => ['-c', setting]),
    ],
    log: () => {},
    onDiskFull: () => {},
    signal: new AbortController().signal,
  })
  return { clusterDir, sockets, postmaster }
}

/**
 * Copies the files of a running primary between pg_backup_start and pg_backup_stop, starts a standby on the copy, and waits
 * until commits wait for it.
 */
async function makeStandby(primary: Server, folder: string, binaries: Binaries, round: number): Promise<Server> {
  const clusterDir = join(folder, `server-${round}`)
  const client = new pg.Client({ connectionString: connectionTo(primary.sockets) })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('standby', true)`)
    await copyCluster(primary.clusterDir, clusterDir)
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    writeAs(primary, join(clusterDir, 'backup_label'), rows[0]?.labelfile ?? '')
    writeAs(primary, join(clusterDir, 'standby.signal'), '')
    const made = await startServer(clusterDir, binaries, [
      `primary_conninfo=host=${primary.sockets} port=${SOCKET_PORT} user=${CLUSTER_USER} application_name=standby`,
    ])
    await client.query(`alter system set synchronous_standby_names = 'standby'`)
    await client.query('select pg_reload_conf()')
    const State = z.array(z.object({ sync_state: z.string() }))
    for (const deadline = performance.now() + PATIENCE_MS; ; await delay(50)) {
      const { rows: found } = await client.query('select sync_state from pg_stat_replication')
      if (State.parse(found).some(({ sync_state }) => sync_state === 'sync')) return made
      if (performance.now() > deadline) throw new Error('the standby does not follow')
    }
  } finally {
    await client.end()
  }
}

/** Copies the files of a running server, of which some vanish meanwhile, without what belongs to its process. */
async function copyCluster(from: string, to: string): Promise<void> {
  const copied = spawn('cp', ['-a', from, to], { stdio: ['ignore', 'ignore', 'pipe'], env: TOOL_ENVIRONMENT })
  let said = ''
  copied.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await once(copied, 'close')
  const wrong = said.split('\n').filter((line) => line !== '' && !line.includes('No such file or directory'))
  if (wrong.length > 0) throw new Error(`the copy failed: ${wrong[0]}`)
  for (const name of ['postmaster.pid', 'postmaster.opts', 'postgresql.auto.conf'])
    rmSync(join(to, name), { force: true })
  for (const name of ['pg_wal', 'pg_replslot'])
    for (const entry of readdirSync(join(to, name))) rmSync(join(to, name, entry), { recursive: true })
}

function writeAs({ clusterDir }: Server, path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 })
  const user = serverUser(clusterDir)
  if (user !== undefined) chownSync(path, user.uid, user.gid)
}

const connectionTo = (sockets: string): string =>
  `postgresql://${CLUSTER_USER}@localhost:${SOCKET_PORT}/${CLUSTER_DATABASE}?host=${encodeURIComponent(sockets)}`

/** Moves the address to a server. */
function point(address: string, { sockets }: Server): void {
  symlinkSync(sockets, `${address}.new`)
  renameSync(`${address}.new`, address)
}

async function ask({ sockets }: Server, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: connectionTo(sockets) })
  await client.connect()
  await client.query(text)
  await client.end()
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended with its parent.
  }
}
