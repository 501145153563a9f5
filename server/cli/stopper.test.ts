import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { waitFor } from '#test/kit/wait.ts'
import { createStopper } from './stopper.ts'

/** A process that tells what happened to it; `exit` does not end it. */
function aProcess(withinMs = 10_000) {
  const events: string[] = []
  const listeners = new Map<string, () => void>()
  const stopper = createStopper(
    {
      on: (signal, listener) => listeners.set(signal, listener),
      exit: (code) => void events.push(`exit ${code}`),
      say: (line) => void events.push(line),
      complain: (problem) => void events.push(problem instanceof Error ? problem.message : String(problem)),
    },
    withinMs,
  )
  const exited = () => waitFor('the exit', () => events.some((event) => event.startsWith('exit')))
  return { events, stopper, exited, signal: (name: string) => listeners.get(name)?.() }
}

const STOPPING = 'Stopping. Once more to leave at once.'

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s undoes what was done, last first, and ends with 0', async (name) => {
  const { events, stopper, exited, signal } = aProcess()
  await stopper.start(async () => {
    stopper.last(async () => void events.push('database'))
    await delay(1)
    stopper.last(async () => void events.push('service'))
  })
  expect(events).toEqual([])
  signal(name)
  await exited()
  expect(events).toEqual([STOPPING, 'service', 'database', 'exit 0'])
})

test('a signal in the middle of starting waits until what was begun can be undone', async () => {
  const { events, stopper, exited, signal } = aProcess()
  const database = Promise.withResolvers<void>()
  const started = stopper.start(async () => {
    await database.promise
    stopper.last(async () => void events.push('database'))
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

test('a start that fails because of the stop has not failed', async () => {
  const { events, stopper, exited, signal } = aProcess()
  const started = stopper.start(async () => {
    stopper.last(async () => void events.push('undone'))
    await new Promise((_, reject) =>
      stopper.signal.addEventListener('abort', () => reject(new Error('connection gone'))),
    )
  })
  signal('SIGINT')
  await started
  await exited()
  expect(events).toEqual([STOPPING, 'undone', 'exit 0'])
})

test('a start that fails by itself is undone before its failure is told', async () => {
  const { events, stopper } = aProcess()
  const start = stopper.start(async () => {
    stopper.last(async () => void events.push('undone'))
    await Promise.reject(new Error('the port is taken'))
  })
  await expect(start).rejects.toThrow('the port is taken')
  expect(events).toEqual(['undone'])
})

test('a signal while a failed start is undone hides its failure neither in words nor in the code', async () => {
  const { events, stopper, signal } = aProcess()
  const undone = Promise.withResolvers<void>()
  const start = stopper.start(async () => {
    stopper.last(() => undone.promise)
    await Promise.reject(new Error('the port is taken'))
  })
  const told = expect(start).rejects.toThrow('the port is taken')
  await delay(1)
  signal('SIGTERM')
  undone.resolve()
  await told
  await delay(20)
  // Whoever called tells the failure and ends the process.
  expect(events).toEqual([STOPPING])
  signal('SIGTERM')
  expect(events).toEqual([STOPPING, 'exit 130'])
})

test('a failed start that cannot be undone is told all the same', async () => {
  const { events, stopper } = aProcess(50)
  const start = stopper.start(async () => {
    stopper.last(() => new Promise(() => {}))
    await Promise.reject(new Error('the port is taken'))
  })
  await expect(start).rejects.toThrow('the port is taken')
  expect(events).toEqual(['Stopping took longer than 0.05 s: leaving now. The next start recovers.'])
})

test('the second signal leaves at once', async () => {
  const { events, stopper, signal } = aProcess()
  await stopper.start(async () => stopper.last(() => new Promise(() => {})))
  signal('SIGINT')
  signal('SIGTERM')
  expect(events).toEqual([STOPPING, 'exit 130'])
})

test.each([
  { what: 'something that cannot be undone', start: async () => {}, undo: () => new Promise<void>(() => {}) },
  { what: 'a start that hangs', start: () => new Promise<void>(() => {}), undo: async () => {} },
])('$what does not keep the process for longer than its time', async ({ start, undo }) => {
  const { events, stopper, exited, signal } = aProcess(50)
  void stopper.start(async () => {
    stopper.last(undo)
    await start()
  })
  signal('SIGTERM')
  await exited()
  expect(events).toEqual([
    STOPPING,
    'Stopping took longer than 0.05 s: leaving now. The next start recovers.',
    'exit 1',
  ])
})

test.each([
  ['later', () => Promise.reject(new Error('no'))],
  [
    'at once',
    () => {
      throw new Error('no')
    },
  ],
])(
  'what fails %s while being undone is told, the rest is undone nevertheless, and the code is 1',
  async (_when, fail) => {
    const { events, stopper, exited } = aProcess()
    await stopper.start(async () => {
      stopper.last(async () => void events.push('database'))
      stopper.last(fail)
    })
    stopper.stop('The database is up to date.', 0)
    stopper.stop('Again.', 0)
    await exited()
    expect(events).toEqual(['The database is up to date.', 'no', 'database', 'exit 1'])
  },
)
