/**
 * `npm start` and `npm run dev`. Plain JavaScript that parses on Node 20.19: it finds the Node the server needs, builds
 * the dashboard when its sources changed, and starts the server.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildWeb } from './build-web.mjs'
import { ensureInstalled } from './install.mjs'
import { compileCache, requireNode, root, toolEnvironment } from './runtime.mjs'

const help = `npm start            build the dashboard if needed, start the database, migrate, serve
npm run dev          the same with reloading: the server restarts and the dashboard updates on every change

Settings are environment variables, for example:  PORT=9000 FAULTLINE_DATA_DIR=/srv/faultline npm start
Ctrl-C stops everything cleanly. All settings: docs/running.md
`

/** Flags of the main thread, whose heap exists before our code runs. Other threads: server/service/cli/collector.ts. */
const FLAGS = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8']

/**
 * For glibc only. By default it gives every thread a separate heap, and after the first large buffer that is freed it
 * keeps tens of megabytes: 40 MiB at full load. An operator's settings win.
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(256 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(4 * 1024 * 1024),
}

const args = process.argv.slice(2)
const unknown = args.filter((arg) => !['--dev', '--help', '-h'].includes(arg) && !arg.startsWith('--roles='))
if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(help)
} else if (unknown.length > 0) {
  process.stderr.write(`Unknown argument ${unknown[0]}.\n\n${help}`)
  process.exitCode = 1
} else {
  await ensureInstalled(root, { withDev: false })
  const node = requireNode()
  if (args.includes('--dev')) await (await import('./dev.mjs')).develop(node)
  else await start(node)
}

async function start(node) {
  if (!(await buildWeb(node))) {
    process.exitCode = 1
    return
  }
  const command = [join(root, 'server', 'main.ts'), 'serve', ...args.filter((arg) => arg.startsWith('--roles='))]
  const environment = {
    ...ALLOCATOR,
    ...compileCache,
    ...toolEnvironment(node),
  }
  // Replace this process by the server where Node can: signals reach it directly, and no second process uses memory.
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.removeAllListeners('warning')
    process.execve(node, [node, ...FLAGS, ...command], environment)
  }
  const child = spawn(node, [...FLAGS, ...command], {
    cwd: process.cwd(),
    env: environment,
    stdio: 'inherit',
    detached: true,
  })
  // The server is in a separate process group, so that Ctrl-C in a terminal reaches it once, from here.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`The server did not start: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 1 : (code ?? 1)
  })
}
