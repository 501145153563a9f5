import { afterEach, describe, expect, test } from 'vitest'
import { memoryLog } from '#test/kit/memory-log.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { spoolEntry } from './entry.fixture.ts'
import type { SpoolEntry } from './entry.ts'
import { isDigestedUpTo } from './erase-from-spool.ts'
import { type IntakeLog, NotConnectedError, packRow, unpackRow } from './intake-log.ts'
import { selectPosition } from './log-position.queries.ts'
import { type Mover, moveEntries, readLogBacklog, startMover } from './move-entries.ts'
import { claimShards, settleBatches } from './read.ts'
import { createSpool, mayBeStored, type Spool } from './write.ts'

const { app, clock, logLines } = await testApp({ env: { SPOOL_URL: 'nats://127.0.0.1:1', SPOOL_STREAM: 'memory' } })

const anEntry = (body: string, overrides: Partial<SpoolEntry> = {}): SpoolEntry =>
  spoolEntry({ receivedAtMs: app.clock.now().getTime(), body, ...overrides })
const newLog = (sizes: { maxBytes?: number; maxMessageBytes?: number } = {}) =>
  memoryLog({ nowMs: () => clock.now().getTime(), ...sizes })

const stops: (() => Promise<void>)[] = []
const spoolOn = (log: IntakeLog): Spool => {
  const spool = createSpool(app, {}, null, log)
  stops.push(() => spool.close())
  return spool
}
const moverOf = (log: IntakeLog, believeMs?: number): Mover => {
  const mover = startMover(app, log, believeMs === undefined ? {} : { believeMs })
  stops.push(() => mover.stop())
  return mover
}
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
  await app.db.query('truncate spool, spool_log')
})

const moved = async (count: number) => {
  await waitFor(`${count} entries in the spool`, async () => {
    const { rows } = await app.db.query<{ n: number }>('select coalesce(sum(entry_count), 0)::int as n from spool')
    return rows[0]?.n === count
  })
  const reader = await claimShards(app)
  const texts: string[] = []
  for (const part of reader.parts()) {
    const batches = await reader.read(part, { maxRows: 10_000, maxBytes: 1 << 30 })
    texts.push(...batches.flatMap((batch) => batch.entries.map(({ body }) => body.toString())))
    await app.tx((tx) => settleBatches(tx, part, batches))
  }
  await reader.close()
  return texts
}

test('a row survives its way through the log; other bytes are none of ours', () => {
  const row = {
    part: 1,
    projectNumber: 5,
    receivedAt: new Date(1_700_000_000_123),
    entryCount: 2,
    entries: Buffer.from('[entries]\n'),
    body: Buffer.from([0, 10, 255]),
  }
  expect(unpackRow(packRow(row))).toEqual(row)
  for (const other of ['', 'x', '2 1 1 1 1\n', '1 5 1 1 400\nshort', `1 ${2 ** 31} 1 1 0\n`])
    expect(unpackRow(Buffer.from(other))).toBeNull()
})

describe('moving', () => {
  test('what the log acknowledged arrives once and in order, with its position, whichever of two movers moves it', async () => {
    const log = newLog()
    const spool = spoolOn(log)
    for (let i = 0; i < 5; i++) await spool.append(anEntry(`${i}`))
    expect(log.messages).toHaveLength(5)
    const movers = [moverOf(log), moverOf(log)]
    expect(await moved(5)).toEqual(['0', '1', '2', '3', '4'])
    expect(await selectPosition(app.db, log.name)).toEqual({ created: '0', sequence: 5, messageId: '4' })
    await spool.append(anEntry('5'))
    expect(await moved(1)).toEqual(['5'])
    expect(movers.reduce((sum, { figures }) => sum + figures.messages, 0)).toBe(6)
    expect(await readLogBacklog(app, log)).toEqual({ messages: 0, bytes: 0, oldestAgeMs: 0 })
  })

  test('rows and position are one transaction, and a second mover of the same position fails', async () => {
    const log = newLog()
    await spoolOn(log).append(anEntry('a'))
    const mover = moverOf(log)
    await moved(1)
    await mover.stop()
    const from = await selectPosition(app.db, log.name)
    if (from === null) throw new Error('no position')
    await spoolOn(log).append(anEntry('b'))
    const entries = await log.read(from.sequence, { rows: 10, bytes: 1_000 })
    await expect(
      app.tx(async (tx) => {
        await moveEntries(tx, log.name, from, entries)
        throw new Error('killed')
      }),
    ).rejects.toThrow('killed')
    await app.tx((tx) => moveEntries(tx, log.name, from, entries))
    await expect(app.tx((tx) => moveEntries(tx, log.name, from, entries))).rejects.toThrow('another process')
    expect(await moved(1)).toEqual(['b'])
  })

  test('a log that is not connected yet is waited for without a warning', async () => {
    const log = newLog()
    await spoolOn(log).append(anEntry('a'))
    const { state } = log
    let asked = 0
    log.state = async () => {
      if (++asked < 3) throw new NotConnectedError('not connected')
      return state()
    }
    moverOf(log)
    expect(await moved(1)).toEqual(['a'])
    expect(logLines.filter(({ level }) => level === 'warn')).toEqual([])
  })

  test('what one replica lacks is waited for, not left out', async () => {
    const log = newLog()
    const spool = spoolOn(log)
    for (const text of ['a', 'b', 'c']) await spool.append(anEntry(text))
    log.hidden = new Set([2])
    moverOf(log)
    expect(await moved(1)).toEqual(['a'])
    log.hidden = new Set()
    expect(await moved(2)).toEqual(['b', 'c'])
  })

  test('a message that all replicas lost is passed over when that is certain', async () => {
    const log = newLog()
    const spool = spoolOn(log)
    for (const text of ['a', 'b', 'c']) await spool.append(anEntry(text))
    log.messages.splice(1, 1)
    const mover = moverOf(log, 100)
    expect(await moved(2)).toEqual(['a', 'c'])
    expect(mover.figures.missing).toBe(1)
  })

  test('a large row is moved whole, and one that lost a message in the middle is passed over whole', async () => {
    const log = newLog({ maxMessageBytes: 300 })
    const spool = spoolOn(log)
    for (const text of ['a'.repeat(800), 'b'.repeat(800), 'c']) await spool.append(anEntry(text))
    expect(log.messages.map(({ part }) => part)).toEqual(['1/4', '2/4', '3/4', '4/4', '1/4', '2/4', '3/4', '4/4', ''])
    log.messages.splice(5, 1)
    const mover = moverOf(log, 100)
    expect((await moved(2)).map((text) => text.slice(0, 1))).toEqual(['a', 'c'])
    expect(mover.figures).toMatchObject({ missing: 3, unreadable: 1 })
  })

  test.each([
    ['was created again', (log: ReturnType<typeof newLog>) => log.recreate()],
    ['lost its end, and others have the numbers', (log: ReturnType<typeof newLog>) => log.loseLast(2)],
  ])('nothing is left out when the log %s', async (_what, change) => {
    const log = newLog()
    const spool = spoolOn(log)
    const first = moverOf(log)
    for (const text of ['a', 'b', 'c']) await spool.append(anEntry(text))
    await moved(3)
    await first.stop()
    change(log)
    const kept = log.messages.length
    for (const text of ['d', 'e', 'f']) await spool.append(anEntry(text))
    moverOf(log, 0)
    expect((await moved(3 + kept)).slice(kept)).toEqual(['d', 'e', 'f'])
  })

  test('an erasure waits for what was received before it and is still in the log', async () => {
    const log = newLog()
    await spoolOn(log).append(anEntry('a'))
    const requestedAt = clock.now()
    expect(await isDigestedUpTo(app, requestedAt)).toBe(false)
    clock.advance(60_000)
    moverOf(log)
    await moved(1)
    await waitFor('the note that nothing waits', () => isDigestedUpTo(app, requestedAt))
  })
})

describe('the intake', () => {
  const owner = { projectNumber: 4, orgId: 'org' }

  test('a full log refuses before its server does; while its reserve is in use, who has more than a share', async () => {
    const log = newLog({ maxBytes: 100_000 })
    const spool = spoolOn(log)
    await spool.append(anEntry('x'.repeat(79_000)), 'org')
    await waitFor('the share to be used up', () => spool.readiness(owner) === 'full')
    expect(spool.readiness({ projectNumber: 5, orgId: 'other' })).toBe('open')
    await spool.append(anEntry('x'.repeat(18_000), { projectNumber: 5 }), 'other')
    await waitFor('the log to be full', () => spool.readiness() === 'disk')
    await expect(spool.append(anEntry('y'))).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('nothing is acknowledged that the log did not; what may be there is not counted as lost', async () => {
    const log = newLog()
    const spool = spoolOn(log)
    log.failure = new Error('no answer')
    const error: unknown = await spool.append(anEntry('a')).catch((failed: unknown) => failed)
    expect(error).toMatchObject({ code: 'unavailable' })
    expect(mayBeStored(error as object)).toBe(true)
    log.failure = null
    await spool.append(anEntry('b'))
    expect(log.messages).toHaveLength(1)
  })
})
