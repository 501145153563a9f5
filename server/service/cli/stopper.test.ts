import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { waitFor } from '#test/kit/wait.ts'
import { createStopper } from './stopper.ts'

/** A process that records its output and exit codes. `exit` does not end it. */
function aProcess(withinMs = 10_000) {
  const events: string[] = []
  const listeners = new Map<string, () => void>()
  const stopper = createStopper(
    {
      on: (signal, listener) => listeners.set(signal, listener),
      exit: (code) => void events.push(`exit ${code}`),
      print: (line) => void events.push(line),
      printError: (problem) => void events.push(problem instanceof Error ? problem.message : String(problem)),
    },
    withinMs,
  )
  const exited = () => waitFor('the exit', () => events.some((event) => event.startsWith('exit')))
  return { events, stopper, exited, signal: (name: string) => listeners.get(name)?.() }
}

const STOPPING = 'Stopping. Send the signal again (Ctrl+C) to exit immediately.'

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s undoes the start in reverse order and exits with 0', async (name) => {
  const { events, stopper, exited, signal } = aProcess()
  await stopper.start(async () => {
    stopper.onStop(async () => void events.push('database'))
    await delay(1)
    stopper.onStop(async () => void events.push('service'))
  })
  expect(events).toEqual([])
  signal(name)
  await exited()
  expect(events).toEqual([STOPPING, 'service', 'database', 'exit 0'])
})

test('a signal during the start waits until the start can be undone', async () => {
  const { events, stopper, exited, signal } = aProcess()
  const database = Promise.withResolvers<void>()
  const started = stopper.start(async () => {
    await database.promise
    stopper.onStop(async () => void events.push('database'))
    stopper.signal.throwIfAborted()
    events.push('service started')
  })
  signal('SIGTERM')
  await delay(20)
  expect(events).toEqual([STOPPING])
  database.resolve()
  await started
  await exited()
  expect(events).toEqual([STOPPING, 'database', 'exit 0'])
})

test('an error of the start that the stop caused is not reported', async () => {
  const { events, stopper, exited, signal } = aProcess()
  const started = stopper.start(async () => {
    stopper.onStop(async () => void events.push('undone'))
    await new Promise((_, reject) =>
      stopper.signal.addEventListener('abort', () => reject(new Error('connection gone'))),
    )
  })
  signal('SIGINT')
  await started
  await exited()
  expect(events).toEqual([STOPPING, 'undone', 'exit 0'])
})

test('a failed start is undone before its error is reported', async () => {
  const { events, stopper } = aProcess()
  const start = stopper.start(async () => {
    stopper.onStop(async () => void events.push('undone'))
    await Promise.reject(new Error('the port is taken'))
  })
  await expect(start).rejects.toThrow('the port is taken')
  expect(events).toEqual(['undone'])
})

test('a signal while a failed start is undone changes neither its error nor the exit code', async () => {
  const { events, stopper, signal } = aProcess()
  const undone = Promise.withResolvers<void>()
  const start = stopper.start(async () => {
    stopper.onStop(() => undone.promise)
    await Promise.reject(new Error('the port is taken'))
  })
  const reported = expect(start).rejects.toThrow('the port is taken')
  await delay(1)
  signal('SIGTERM')
  undone.resolve()
  await reported
  await delay(20)
  // The caller reports the error and ends the process.
  expect(events).toEqual([STOPPING])
  signal('SIGTERM')
  expect(events).toEqual([STOPPING, 'exit 130'])
})

test('the error of a failed start is reported even when undoing hangs', async () => {
  const { events, stopper } = aProcess(50)
  const start = stopper.start(async () => {
    stopper.onStop(() => new Promise(() => {}))
    await Promise.reject(new Error('the port is taken'))
  })
  await expect(start).rejects.toThrow('the port is taken')
  expect(events).toEqual(['Stopping took longer than 0.05 s. Exiting now; the next start recovers.'])
})

test('the second signal exits immediately', async () => {
  const { events, stopper, signal } = aProcess()
  await stopper.start(async () => stopper.onStop(() => new Promise(() => {})))
  signal('SIGINT')
  signal('SIGTERM')
  expect(events).toEqual([STOPPING, 'exit 130'])
})

test.each([
  { what: 'a step of the stop that hangs', start: async () => {}, undo: () => new Promise<void>(() => {}) },
  { what: 'a start that hangs', start: () => new Promise<void>(() => {}), undo: async () => {} },
])('$what does not delay the exit beyond the time limit', async ({ start, undo }) => {
  const { events, stopper, exited, signal } = aProcess(50)
  void stopper.start(async () => {
    stopper.onStop(undo)
    await start()
  })
  signal('SIGTERM')
  await exited()
  expect(events).toEqual([
    STOPPING,
    'Stopping took longer than 0.05 s. Exiting now; the next start recovers.',
    'exit 1',
  ])
})

test.each([
  ['later', () => Promise.reject(new Error('no'))],
  [
    'synchronously',
    () => {
      throw new Error('no')
    },
  ],
])('a step of the stop that fails %s is reported, the other steps run, and the exit code is 1', async (_when, fail) => {
  const { events, stopper, exited } = aProcess()
  await stopper.start(async () => {
    stopper.onStop(async () => void events.push('database'))
    stopper.onStop(fail)
  })
  stopper.stop('The database is up to date.', 0)
  stopper.stop('Again.', 0)
  await exited()
  expect(events).toEqual(['The database is up to date.', 'no', 'database', 'exit 1'])
})
