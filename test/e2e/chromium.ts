import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/**
 * The Chromium inside an npm package, unpacked once per version into `test/.cache`, for all processes of this checkout.
 * `CHROMIUM_PATH` names another one.
 */

export type Chromium = { executablePath: string; env: Record<string, string> }

const root = join(import.meta.dirname, '../..')
const STALE_LOCK_MS = 120_000
const PATIENCE_MS = 180_000

/** Path of the browser and the environment it needs; unpacks it first when necessary. */
export async function findChromium(): Promise<Chromium> {
  const given = process.env.CHROMIUM_PATH
  if (given !== undefined && given !== '') return { executablePath: given, env: {} }
  const folder = join(root, 'test/.cache', `chromium-${packageVersion()}`)
  const ready = join(folder, '.ready')
  if (!existsSync(ready)) await unpackOnce(folder, ready)
  return {
    executablePath: join(folder, 'chromium'),
    // Outside its usual host the package's libraries and fonts must be named.
    env: { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: fontConfig(folder), HOME: folder },
  }
}

function packageVersion(): string {
  const text = readFileSync(join(root, 'node_modules/@sparticuz/chromium/package.json'), 'utf8')
  const version = /"version": "([^"]+)"/.exec(text)?.[1]
  if (version === undefined) throw new Error('@sparticuz/chromium has no version')
  return version
}

/** One process unpacks, the others wait: otherwise one would start a half-written executable. */
async function unpackOnce(folder: string, ready: string): Promise<void> {
  const lock = `${folder}.lock`
  const deadline = Date.now() + PATIENCE_MS
  mkdirSync(join(folder, '..'), { recursive: true })
  while (!existsSync(ready)) {
    if (takeLock(lock)) {
      try {
        if (!existsSync(ready)) {
          rmSync(folder, { recursive: true, force: true })
          mkdirSync(folder, { recursive: true })
          await unpack(folder)
          writeFileSync(fontConfig(folder), fontConfigText(folder))
          writeFileSync(ready, '')
        }
      } finally {
        rmSync(lock, { recursive: true, force: true })
      }
      return
    }
    if (Date.now() > deadline) throw new Error(`another process has been unpacking Chromium for too long: ${lock}`)
    await sleep(100)
  }
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    // The process with the lock was killed; unpacking takes seconds.
    if (age > STALE_LOCK_MS) rmSync(lock, { recursive: true, force: true })
    return false
  }
}

/**
 * The package reads its environment when imported, writes to the temporary folder it finds there, and changes library
 * paths of its process: a child process keeps that away from ours.
 */
async function unpack(folder: string): Promise<void> {
  const script = `const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    env: { PATH: process.env.PATH, TMPDIR: folder, HOME: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' },
  })
}

const fontConfig = (folder: string): string => join(folder, 'fonts.conf')

/** The configuration inside the package names folders under /tmp, which all users would share. */
const fontConfigText = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`
