import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { waitFor } from '#test/kit/wait.ts'
import { lockDataDir } from './lock.ts'
import { identify } from './processes.ts'

let dataDir = ''
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'faultline-lock-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
})
const file = () => join(dataDir, 'faultline.lock')

test('is exclusive until it is released', () => {
  const release = lockDataDir(dataDir)
  expect(() => lockDataDir(dataDir)).toThrow(`already runs on ${dataDir} (process ${process.pid})`)
  release()
  expect(readdirSync(dataDir)).toEqual([])
  lockDataDir(dataDir)()
})

test('a lock whose holder has ended is stale', () => {
  writeFileSync(file(), JSON.stringify({ pid: 2 ** 22 - 1, startedAt: 'long ago' }))
  lockDataDir(dataDir)()
})

test('a lock whose process id belongs to another process is stale', () => {
  writeFileSync(file(), JSON.stringify({ pid: process.ppid, startedAt: `${identify(process.ppid)?.startedAt}0` }))
  lockDataDir(dataDir)()
})

test('an unreadable lock is stale', () => {
  for (const text of ['', '{', '{"pid":-1,"startedAt":"x"}', '\0\0\0\0']) {
    writeFileSync(file(), text)
    lockDataDir(dataDir)()
  }
})

test('releasing does not remove the lock of another process', () => {
  const release = lockDataDir(dataDir)
  const other = JSON.stringify({ pid: process.ppid, startedAt: 'then' })
  writeFileSync(file(), other)
  release()
  expect(readFileSync(file(), 'utf8')).toBe(other)
})

test('one of many concurrent starts takes over a stale lock', async () => {
  writeFileSync(file(), JSON.stringify({ pid: 2 ** 22 - 1, startedAt: 'long ago' }))
  const script = `
    import { lockDataDir } from ${JSON.stringify(join(import.meta.dirname, 'lock.ts'))}
    try { lockDataDir(${JSON.stringify(dataDir)}); console.log('won') } catch (error) { console.log('lost') }
    // Holds the lock until all have tried.
    process.stdin.resume()`
  const racers = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  const said = await Promise.all(
    racers.map(async (racer) => {
      const [data] = (await once(racer.stdout, 'data')) as [Buffer]
      return data.toString().trim()
    }),
  )
  for (const racer of racers) racer.stdin.end()
  expect(said.toSorted()).toEqual(['lost', 'lost', 'lost', 'lost', 'lost', 'won'])
  expect(existsSync(file())).toBe(true)
})

test('a lock of a zombie is stale, because in a container it may stay for ever', async () => {
  // The shell becomes a sleep, which never reaps the child that the shell started.
  const parent = spawn('/bin/sh', ['-c', 'sleep 30 & echo $!; exec sleep 30'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void parent.kill('SIGKILL'))
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const zombie = Number(line.toString())
  const { startedAt } = await waitFor('the child to start', () => identify(zombie))
  process.kill(zombie, 'SIGKILL')
  await waitFor('the child to end', () => readFileSync(`/proc/${zombie}/stat`, 'utf8').includes(') Z '))
  writeFileSync(file(), JSON.stringify({ pid: zombie, startedAt }))
  lockDataDir(dataDir)()
})
