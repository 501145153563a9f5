/**
 * Runs the program on the Node it needs, as `npm start` and the command `faultline` of the package do. Plain JavaScript
 * that parses on Node 20.19.
 */
import { spawn } from 'node:child_process'
import { compileCache, toolEnvironment } from './runtime.mjs'

/** Flags of the main thread, whose heap exists before our code runs. Other threads: `collector` of server/service/cli/. */
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

/**
 * @param {string} node path of the Node to run on
 * @param {readonly string[]} command the script and its arguments
 */
export function launch(node, command) {
  const environment = { ...ALLOCATOR, ...compileCache, ...toolEnvironment(node) }
  // Replace this process by the program where Node can: signals reach it directly, and no second process uses memory.
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
  // The program is in a separate process group, so that Ctrl-C in a terminal reaches it once, from here.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`Faultline did not start: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 1 : (code ?? 1)
  })
}
