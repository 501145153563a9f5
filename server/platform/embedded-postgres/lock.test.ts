import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { lockDataDir } from './lock.ts'
import { bootId } from './processes.ts'

let dataDir = ''
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'faultline-lock-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
})
const file = () => join(dataDir, 'faultline.lock')
const holder = (changes: Record<string, unknown>) =>
  writeFileSync(
    file(),
    JSON.stringify({
      pid: 7,
      host: 'another-machine',
      bootId: 'another boot',
      namespace: '',
      beatAt: new Date().toISOString(),
      ...changes,
    }),
  )

/** Another process that tries to lock the directory, and holds the lock until its input ends. */
async function tryLock(command: readonly string[] = [], directory = dataDir) {
  const script = `
    import { lockDataDir } from ${JSON.stringify(join(import.meta.dirname, 'lock.ts'))}
    try { lockDataDir(${JSON.stringify(directory)}); console.log('locked') } catch (error) { console.log(error.message) }
    process.stdin.resume()`
  const words = [...command, process.execPath, '--input-type=module', '-e', script]
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [data] = (await once(child.stdout, 'data')) as [Buffer]
  return { said: data.toString().trim(), child }
}

test('is exclusive until it is released', () => {
  const release = lockDataDir(dataDir)
  expect(() => lockDataDir(dataDir)).toThrow(`already runs on ${dataDir} (process ${process.pid}):`)
  release()
  expect(readdirSync(dataDir)).toEqual(['faultline.guard'])
  lockDataDir(dataDir)()
})

test('a killed holder does not hold it', async () => {
  const { said, child } = await tryLock()
  expect(said).toBe('locked')
  expect(() => lockDataDir(dataDir)).toThrow('already runs')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(existsSync(file())).toBe(true)
  lockDataDir(dataDir)()
})

test('one of many concurrent starts gets it', async () => {
  const tries = await Promise.all(Array.from({ length: 6 }, () => tryLock()))
  expect(tries.filter(({ said }) => said === 'locked')).toHaveLength(1)
})

test('is held by another path to the same directory', async () => {
  const path = `${dataDir}-link`
  symlinkSync(dataDir, path)
  onTestFinished(() => rmSync(path))
  const release = lockDataDir(dataDir)
  expect((await tryLock([], path)).said).toContain('already runs')
  release()
})

const IN_CONTAINER = ['unshare', '--pid', '--ipc', '--mount', '--fork']
const canUnshare = (() => {
  try {
    execFileSync('unshare', [...IN_CONTAINER.slice(1), 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

test.runIf(canUnshare)('is held across PID, IPC and mount namespaces, in both directions', async () => {
  const inside = await tryLock(IN_CONTAINER)
  expect(inside.said).toBe('locked')
  expect(() => lockDataDir(dataDir)).toThrow('in another container')
  inside.child.stdin.end()
  await once(inside.child, 'exit')
  const release = lockDataDir(dataDir)
  expect((await tryLock(IN_CONTAINER)).said).toContain('already runs')
  release()
})

test('a holder on another machine holds it while it gives signs of life', () => {
  holder({})
  expect(() => lockDataDir(dataDir)).toThrow('(process 7 on another-machine')
  holder({ beatAt: new Date(Date.now() - 60_000).toISOString() })
  lockDataDir(dataDir)()
})

test('a holder of this machine, or of its boot before, has ended when the lock is free', () => {
  for (const changes of [{ bootId: bootId() }, { host: hostname() }, { bootId: bootId(), host: hostname(), pid: 1 }]) {
    holder(changes)
    lockDataDir(dataDir)()
  }
})

test('an unreadable file names no holder', () => {
  for (const text of ['', '{', '{"pid":-1}', '\0\0\0\0']) {
    writeFileSync(file(), text)
    lockDataDir(dataDir)()
  }
})

test('releasing does not remove the file of another holder', () => {
  const release = lockDataDir(dataDir)
  holder({})
  const other = readFileSync(file(), 'utf8')
  release()
  expect(readFileSync(file(), 'utf8')).toBe(other)
})
