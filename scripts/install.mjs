/**
 * Installs the packages of `package-lock.json` where they are missing: `npm start`, `npm test` and `npm run check` call
 * it first. Plain JavaScript that parses on Node 20.19: no package is there yet.
 */
import { spawn } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { showProgress } from './progress.mjs'

/** The holder of the lock writes its time this often. One that was silent for long has ended. */
const BEAT_MS = 1_000
const SILENT_MS = 15_000
const POLL_MS = 200

/** Codes of failures that mean that the registry was not reached. */
const UNREACHABLE =
  /\b(?:ENOTFOUND|EAI_AGAIN|EAI_FAIL|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/

/**
 * Returns when the packages are there. It exits with 1 and says what to do where they cannot be installed. Only one
 * process installs; others that start meanwhile wait for it.
 * @param {string} root the checkout
 * @param {{ withDev: boolean, closing?: string }} options whether packages of tests and tools are needed; the last line
 * printed before it exits with 1
 */
export async function ensureInstalled(root, { withDev, closing = '' }) {
  if (missingFrom(root, withDev) === null) return
  const release = await lock(join(root, '.install-lock'), () =>
    process.stdout.write('Another process installs the packages: waiting for it\n'),
  )
  try {
    const why = missingFrom(root, withDev)
    if (why === null) return
    const problem = unwritable(root) ?? (await install(root, why, withDev))
    if (problem === null) return
    process.stderr.write(`${problem}\n`)
    process.exitCode = 1
  } finally {
    release()
  }
  if (process.exitCode !== 1) return
  process.stdout.write(closing)
  process.exit(1)
}

/**
 * Why the packages have to be installed; null when they fit. It compares with npm's record in node_modules, which npm
 * writes last, so that an interrupted installation counts as none.
 */
export function missingFrom(root, withDev) {
  const packages = join(root, 'node_modules')
  if (!existsSync(packages)) return 'The packages are not installed yet'
  // The packages of another checkout are its own.
  if (lstatSync(packages).isSymbolicLink()) return null
  const wanted = packagesOf(join(root, 'package-lock.json'))
  if (wanted === null) return null
  const installed = packagesOf(join(packages, '.package-lock.json'))
  if (installed === null) return 'The packages are not installed completely'
  for (const [path, { version, dev = false, devOptional = false, optional = false }] of Object.entries(wanted)) {
    if (path === '' || (!withDev && (dev || devOptional))) continue
    const one = installed[path]
    const name = path.replace(/^.*node_modules\//, '')
    if (one === undefined || !existsSync(join(root, path))) {
      // Optional packages fit some machines only, and an operator may leave them out.
      if (optional) continue
      return `The package ${name} is missing`
    }
    if (one.version !== version) return `The package ${name} is ${one.version}, and package-lock.json names ${version}`
  }
  return null
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? null
  } catch {
    return null
  }
}

function unwritable(root) {
  try {
    accessSync(root, constants.W_OK)
    if (existsSync(join(root, 'node_modules'))) accessSync(join(root, 'node_modules'), constants.W_OK)
    return null
  } catch {
    return `The packages do not fit package-lock.json, and this user may not write to ${root}: run \`npm ci\` there as its owner.`
  }
}

/** @returns what to do where it failed, else null */
async function install(root, why, withDev) {
  process.stdout.write(`${why}: installing them with npm ci.\n`)
  const progress = showProgress('Installing the packages')
  const { code, output } = await runNpm(root, [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    // `npm test --silent` must not silence the reason.
    '--loglevel=error',
    // Without a network it fails within seconds instead of minutes.
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=5000',
    ...(withDev ? ['--include=dev'] : []),
  ])
  if (code === 0) {
    progress.done()
    return null
  }
  progress.failed()
  const reason = UNREACHABLE.exec(output)?.[0]
  if (reason === undefined) return `${output.trim()}\nnpm ci failed: see above, then start again.`
  return `The package registry cannot be reached (${reason}). Connect this machine to the network, or set the registry and proxy of your network in .npmrc, then start again. Without a network, copy node_modules from a machine of the same kind.`
}

function runNpm(root, args) {
  const own = process.env.npm_execpath ?? ''
  // The npm that runs this script, where one does.
  const [command, ...first] = basename(own) === 'npm-cli.js' ? [process.execPath, own] : ['npm']
  return new Promise((resolve) => {
    const child = spawn(command, [...first, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32' && command === 'npm',
    })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    // npm must end before the lock is free. A second signal of the terminal reaches it directly.
    const stop = (signal) => child.kill(signal)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
    child.on('error', (error) => resolve({ code: 1, output: `npm cannot be started: ${error.message}` }))
    child.on('close', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, stop)
      resolve({ code: code ?? 1, output })
    })
  })
}

/**
 * Takes a lock file. A holder that was killed leaves it behind; it counts as free when its time is old, which also holds
 * for processes of another container.
 * @param {string} file
 * @param {() => void} onWait called once when another process holds it
 * @returns {Promise<() => void>} gives it back
 */
async function lock(file, onWait) {
  const mark = `${process.pid} ${Date.now()} ${Math.random()}\n`
  let isWaiting = false
  while (!take(file, mark)) {
    if (isSilent(file)) removeSilent(file, `${file}.${process.pid}`)
    else {
      if (!isWaiting) onWait()
      isWaiting = true
      await delay(POLL_MS)
    }
  }
  const beat = setInterval(() => {
    const now = new Date()
    if (holds(file, mark)) utimesSync(file, now, now)
  }, BEAT_MS)
  beat.unref()
  return () => {
    clearInterval(beat)
    if (holds(file, mark)) rmSync(file, { force: true })
  }
}

function take(file, mark) {
  try {
    writeFileSync(file, mark, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    // A checkout that cannot be written: the installation says so.
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return true
    throw error
  }
}

const isSilent = (file) => {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs > SILENT_MS
}

/** Another process may remove it and take the lock at the same moment: that one gets its file back. */
function removeSilent(file, aside) {
  try {
    renameSync(file, aside)
    if (!isSilent(aside)) linkSync(aside, file)
  } catch {
    // The other process was first.
  }
  rmSync(aside, { force: true })
}

function holds(file, mark) {
  try {
    return readFileSync(file, 'utf8') === mark
  } catch {
    return false
  }
}
