import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { random } from '#bench/payloads.ts'
import { treeOf } from '#bench/process-tree.ts'
import { runningEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { makeCheckout } from '../flows/installation.ts'
import { compileShim, preloaded, preloadInto, whyNoShim } from './io-shim.ts'
import { killNow, killRepeatedly, LARGE } from './kill-intake.ts'
import { atLeast, print, skip, type TortureArgs, type Verdict } from './torture.ts'

/** Kinds of notes of power-shim.c, and the size of their head. */
const [WRITE, SYNC, BORN] = [1, 2, 3]
const HEAD_BYTES = 40
const SECTOR_BYTES = 512
/** Every other cut loses all that no sync made durable, the others a random part. */
const KEPT_SHARE = 0.5
const MAX_CHECKPOINT_MS = 300

/** Folders of the data directory whose files lose writes. */
const FOLDERS = ['postgres', 'spool'] as const

/**
 * T-03: everything is killed at random moments, and the files of the database and of the spool lose what no sync made
 * durable: all of it, or random writes and parts of writes, to a sector. Claim: as for kill-intake; the database starts
 * every time.
 */
export async function powerCut(args: TortureArgs): Promise<Verdict> {
  const why = whyNoShim()
  if (why !== null) return skip(why)
  const folder = mkdtempSync(join(tmpdir(), 'faultline-power-'))
  chmodSync(folder, 0o755)
  const rand = random(args.seed + 1)
  const lost = { postgres: { writes: 0, bytes: 0 }, spool: { writes: 0, bytes: 0 } }
  try {
    const notes = join(folder, 'notes')
    const checkout = makeCheckout(join(folder, 'checkout'), { ownPostgres: true })
    const library = compileShim(folder, 'power-shim.c')
    preloadInto(checkout, library, notes)
    const verdict = await killRepeatedly(
      { ...args, ...LARGE, checkout, env: preloaded(library, notes) },
      { usual: 8, full: 50 },
      async (installation, kill, kills) => {
        const { service } = installation
        // Pages of tables are written by a checkpoint, and synced at its end.
        const checkpoint = startCheckpoint(service.dataDir)
        await delay(rand() * MAX_CHECKPOINT_MS)
        const victims = treeOf(service.pid).reverse()
        for (const pid of victims) killNow(pid)
        await service.stop('SIGKILL')
        while (victims.some(isRunning)) await delay(5)
        await checkpoint
        if (kill > 1) {
          const unsynced = readUnsynced(readFileSync(notes))
          for (const name of FOLDERS)
            losePower(unsynced, join(service.dataDir, name), kill % 2 === 0 ? () => 1 : rand, lost[name])
        }
        // The present content of the disk is durable. After the last cut nothing is noted.
        rmSync(notes, { force: true })
        if (kill < kills) {
          writeFileSync(notes, '')
          chmodSync(notes, 0o666)
        }
        await installation.restart()
        return { what: kill === 1 ? 'before the first cut' : 'power cut', readyMs: installation.service.readyMs }
      },
    )
    for (const name of FOLDERS)
      print(`  ${name}: ${lost[name].writes} writes taken back, ${(lost[name].bytes / 2 ** 20).toFixed(1)} MiB`)
    const usesFile = process.env['FAULTLINE_SPOOL_FILE'] !== 'off'
    return {
      claims: [
        ...verdict.claims,
        atLeast('writes of the database taken back', 100, lost.postgres.writes),
        ...(usesFile ? [atLeast('writes of the spool taken back', 1, lost.spool.writes)] : []),
      ],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}

type Write = {
  /** In the notes. */
  readonly place: number
  readonly inode: bigint
  readonly at: number
  readonly bytes: number
  /** The file's, before. */
  readonly size: number
  /** The bytes there before, up to the end of the file. */
  readonly old: Buffer
}

async function startCheckpoint(dataDir: string): Promise<void> {
  const running = runningEmbeddedPostgres(dataDir)
  if (running === null) return
  const client = new pg.Client({ connectionString: running.connectionString })
  client.on('error', () => {})
  await client
    .connect()
    .then(() => client.query('checkpoint'))
    .catch(() => null)
  await client.end().catch(() => {})
}

/** A process that ended may wait for its parent. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z')
  } catch {
    return false
  }
}

/**
 * Takes back what no sync made durable in a folder, the newest first.
 * @param chance 1: all of it
 * @param lost to which it is added
 */
function losePower(
  unsynced: readonly Write[],
  folder: string,
  chance: () => number,
  lost: { writes: number; bytes: number },
): void {
  const paths = new Map<bigint, string>()
  const walk = (inside: string): void => {
    for (const entry of readdirSync(inside, { withFileTypes: true })) {
      const path = join(inside, entry.name)
      if (entry.isDirectory()) walk(path)
      else paths.set(statSync(path, { bigint: true }).ino, path)
    }
  }
  if (existsSync(folder)) walk(folder)
  for (const write of unsynced.toReversed()) {
    const path = paths.get(write.inode)
    if (path === undefined || chance() < KEPT_SHARE) continue
    // The first sectors of it may have reached the disk.
    const kept = Math.floor(((1 - chance()) * write.bytes) / SECTOR_BYTES) * SECTOR_BYTES
    takeBack(path, write, kept)
    lost.writes++
    lost.bytes += write.bytes - kept
  }
}

function takeBack(path: string, { at, bytes, size, old }: Write, kept: number): void {
  const end = at + bytes
  const file = openSync(path, 'r+')
  try {
    if (kept < old.length) writeSync(file, old, kept, old.length - kept, at + kept)
    if (end <= size) return
    // The file grew by this write.
    const from = Math.max(size, at + kept)
    if (end >= fstatSync(file).size) ftruncateSync(file, from)
    else writeSync(file, Buffer.alloc(end - from), 0, end - from, from)
  } finally {
    closeSync(file)
  }
}

function readUnsynced(notes: Buffer): Write[] {
  const waiting = new Map<bigint, Write[]>()
  for (let place = 0; place + HEAD_BYTES <= notes.length;) {
    const number = (offset: number): number => Number(notes.readBigInt64LE(place + offset))
    const [kind, oldBytes] = [notes.readUInt32LE(place), notes.readUInt32LE(place + 4)]
    const inode = notes.readBigUInt64LE(place + 8)
    const next = place + HEAD_BYTES + oldBytes
    const of = waiting.get(inode) ?? []
    if (kind === WRITE) {
      const old = notes.subarray(place + HEAD_BYTES, next)
      of.push({ place, inode, at: number(16), bytes: number(24), size: number(32), old })
      waiting.set(inode, of)
    } else if (kind === SYNC || kind === BORN) {
      const before = kind === SYNC ? number(16) : place
      waiting.set(
        inode,
        of.filter((write) => write.place >= before),
      )
    }
    place = next
  }
  return [...waiting.values()].flat().sort((a, b) => a.place - b.place)
}
