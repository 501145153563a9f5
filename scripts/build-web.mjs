/** Builds the dashboard into web/dist when it is missing or older than its sources. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { showProgress } from './progress.mjs'
import { root, toolEnvironment } from './runtime.mjs'

const web = join(root, 'web')
/** Code that the dashboard imports beside its own. */
const shared = join(root, 'shared')
const dist = join(web, 'dist')
const stamp = join(dist, '.built-from')
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * @param {string} node the Node to build with
 * @returns {Promise<boolean>} false when there is no dashboard to serve; the reason has been printed
 */
export async function buildWeb(node) {
  if (!existsSync(join(web, 'index.html'))) return true
  const fingerprint = hashSources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint) return true

  const progress = showProgress('Building the dashboard')
  // Built in another folder and swapped in: another service started from this checkout never sees an incomplete build.
  const fresh = `${dist}.new-${process.pid}`
  const built = await runVite(node, fresh)
  if (built.ok) {
    try {
      writeFileSync(join(fresh, '.built-from'), fingerprint)
      swapIn(fresh)
      progress.done()
      return true
    } catch (error) {
      built.output = error.message
    }
  }
  rmSync(fresh, { recursive: true, force: true })
  progress.failed()
  process.stderr.write(`${built.output.trim()}\n`)
  if (existsSync(join(dist, 'index.html'))) {
    process.stderr.write('The dashboard could not be built from its current sources: serving the one built before.\n')
    return true
  }
  process.stderr.write('The dashboard could not be built: see above, then start again.\n')
  return false
}

function swapIn(fresh) {
  const old = `${dist}.old-${process.pid}`
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(fresh, dist)
  rmSync(old, { recursive: true, force: true })
}

function runVite(node, outDir) {
  const config = existsSync(join(root, 'vite.config.ts')) ? [] : [web]
  const args = [
    join(root, 'node_modules', 'vite', 'bin', 'vite.js'),
    'build',
    // Node reads the TypeScript itself: Vite's usual loader writes into node_modules, which another user may own.
    '--configLoader',
    'native',
    ...config,
    '--outDir',
    outDir,
    '--emptyOutDir',
    '--logLevel',
    'warn',
  ]
  return new Promise((resolve) => {
    const environment = { ...toolEnvironment(node), NODE_ENV: 'production', NO_COLOR: '1', FORCE_COLOR: '0' }
    const child = spawn(node, args, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let endedBy
    // A signal ends the build and removes its output.
    const stop = (signal) => {
      endedBy ??= signal
      child.kill('SIGKILL')
    }
    for (const signal of SIGNALS) process.on(signal, stop)
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ ok: false, output: error.message }))
    child.on('close', (code) => {
      for (const signal of SIGNALS) process.off(signal, stop)
      if (endedBy === undefined) return resolve({ ok: code === 0, output })
      rmSync(outDir, { recursive: true, force: true })
      process.kill(process.pid, endedBy)
    })
  })
}

/** Hashes everything that determines the build: contents, not times, which a fresh clone does not keep. */
function hashSources() {
  const hash = createHash('sha256')
  const add = (path) =>
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0')
  const walk = (directory) => {
    const entries = readdirSync(directory, { withFileTypes: true })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('dist') || entry.name.includes('.test.')) continue
      const path = join(directory, entry.name)
      if (entry.isDirectory()) walk(path)
      else add(path)
    }
  }
  walk(web)
  if (existsSync(shared)) walk(shared)
  // The guide of the product is made of the pages of docs/.
  const docs = join(root, 'docs')
  const pages = existsSync(docs) ? readdirSync(docs).filter((name) => name.endsWith('.md')) : []
  for (const name of pages.sort()) add(join(docs, name))
  if (existsSync(join(root, 'scripts/guide'))) walk(join(root, 'scripts/guide'))
  for (const name of [
    'package-lock.json',
    'vite.config.ts',
    'server/service/http/guide.ts',
    'server/service/http/escape-html.ts',
  ]) {
    if (existsSync(join(root, name))) add(join(root, name))
  }
  return hash.digest('hex')
}
