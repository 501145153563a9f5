import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { waitFor } from '#test/kit/wait.ts'
import { DatabaseStartError, DiskFullError } from '../storage/pool.ts'
import type { Postmaster } from './postmaster.ts'
import { supervise } from './start.ts'

const clusterDir = mkdtempSync(join(tmpdir(), 'faultline-supervise-'))
afterAll(() => rmSync(clusterDir, { recursive: true, force: true }))

/** A server that ends when `end` is called. */
function aPostmaster(): Postmaster & { end: (reason: string) => void; stopped: boolean } {
  const { promise, resolve } = Promise.withResolvers<string>()
  const postmaster = {
    pid: 1,
    recovered: false,
    ended: promise,
    end: resolve,
    stopped: false,
    stop() {
      postmaster.stopped = true
      resolve('was stopped')
      return Promise.resolve()
    },
  }
  return postmaster
}

function aSupervisor(start: (signal: AbortSignal) => Promise<Postmaster>, diskWasFull: () => boolean) {
  const first = aPostmaster()
  const lines: string[] = []
  const supervisor = supervise(first, { start, clusterDir, log: (line) => lines.push(line), diskWasFull })
  let failed: string | null = null
  void supervisor.failed.then((reason) => (failed = reason))
  return { first, lines, supervisor, failed: () => failed }
}

test('waits while the disk is full', async () => {
  const next = aPostmaster()
  const answers = [new DiskFullError('full'), new DiskFullError('full')]
  let tries = 0
  const { first, lines, supervisor, failed } = aSupervisor(
    () => {
      tries++
      const refusal = answers.shift()
      return refusal === undefined ? Promise.resolve(next) : Promise.reject(refusal)
    },
    () => true,
  )
  first.end('ended with exit code 1')
  await waitFor('the third attempt', () => tries === 3)
  expect(failed()).toBeNull()
  expect(lines.filter((line) => line.includes('disk is full'))).toHaveLength(1)
  await supervisor.stop()
  expect(next.stopped).toBe(true)
})

test('stopping ends the wait for disk space', async () => {
  let tries = 0
  const { first, supervisor } = aSupervisor(
    () => {
      tries++
      return Promise.reject(new DiskFullError('full'))
    },
    () => true,
  )
  first.end('ended with exit code 1')
  await waitFor('the first attempt', () => tries > 0)
  await supervisor.stop()
})

test('gives up after the fourth end in a minute, not counting those with a full disk', async () => {
  let full = true
  const servers: ReturnType<typeof aPostmaster>[] = []
  const { first, failed } = aSupervisor(
    () => {
      const next = aPostmaster()
      servers.push(next)
      return Promise.resolve(next)
    },
    () => full,
  )
  const endNext = async (): Promise<void> => {
    const before = servers.length
    ;(servers.at(-1) ?? first).end('was ended by SIGKILL')
    await waitFor('the next server, or the end', () => servers.length > before || failed() !== null)
  }
  for (let times = 0; times < 5; times++) await endNext()
  expect(failed()).toBeNull()
  full = false
  for (let times = 0; times < 4; times++) await endNext()
  expect(failed()).toContain('giving up')
})

test('reports any other reason why the server does not start', async () => {
  const { first, failed } = aSupervisor(
    () => Promise.reject(new DatabaseStartError('PostgreSQL cannot read its data.')),
    () => false,
  )
  first.end('ended with exit code 1')
  expect(await waitFor('the failure', () => failed())).toBe('PostgreSQL cannot read its data.')
})

test('stopping aborts a slow start, which is no failure', async () => {
  const { promise: starting, resolve: onStart } = Promise.withResolvers<void>()
  const { first, supervisor, failed } = aSupervisor(
    (signal) => {
      onStart()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    },
    () => false,
  )
  first.end('was ended by SIGKILL')
  await starting
  await supervisor.stop()
  expect(failed()).toBeNull()
})
