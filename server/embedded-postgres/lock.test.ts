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

test('is exclusive until it is given back', () => {
  const release = lockDataDir(dataDir)
  expect(() => lockDataDir(dataDir)).toThrow(`already runs on ${dataDir} (process ${process.pid})`)
  release()
  expect(readdirSync(dataDir)).toEqual([])
  lockDataDir(dataDir)()
})

test('a holder that is gone does not count', () => {
  writeFileSync(file(), JSON.stringify({ pid: 2 ** 22 - 1, startedAt: 'long ago' }))
  lockDataDir(dataDir)()
})

test('a number that was given to another process meanwhile does not count', () => {
  writeFileSync(file(), JSON.stringify({ pid: process.ppid, startedAt: `${identify(process.ppid)?.startedAt}0` }))
  lockDataDir(dataDir)()
})

test('an unreadable lock does not count', () => {
  for (const text of ['', '{', '{"pid":-1,"startedAt":"x"}', '\0\0\0\0']) {
    writeFileSync(file(), text)
    lockDataDir(dataDir)()
  }
})

test('giving back what another process took over meanwhile leaves it alone', () => {
  const release = lockDataDir(dataDir)
  const other = JSON.stringify({ pid: process.ppid, startedAt: 'then' })
  writeFileSync(file(), other)
  release()
  expect(readFileSync(file(), 'utf8')).toBe(other)
})

test('of many starts that find a stale lock at once, one wins', async () => {
  writeFileSync(file(), JSON.stringify({ pid: 2 ** 22 - 1, startedAt: 'long ago' }))
  const script = `
    import { lockDataDir } from ${JSON.stringify(join(import.meta.dirname, 'lock.ts'))}
    try { lockDataDir(${JSON.stringify(dataDir)}); console.log('won') } catch (error) { console.log('lost') }
    // Hold it until everybody has tried.
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

test('a zombie does not count: in a container nobody may ever reap it', async () => {
  // The shell becomes a sleeper that never looks after the child it started before.
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
