import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { interceptedApp } from '#test/kit/intercepted-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { anEvent, envelopeOf, newEventId } from '#test/kit/sdk.ts'
import { readEvent } from '../../events/store/store.queries.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { readStoredEvent } from '../../events/store/event.ts'
import { spoolEntry } from '../spool/entry.fixture.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import { claimShards, type SpoolBatch, type SpoolReader, SpoolFencedError } from '../spool/read.ts'
import { createSpool, type Spool } from '../spool/write.ts'
import { commitBatches, type PreparedBatches, prepareRow } from './digest.ts'
import { retryQuarantined } from './retry-quarantined.ts'
import { FairTurns } from './fair-turns.ts'
import { symbolicateFor } from '../../symbols/symbolication/symbolicator.ts'
import { createProjectFactsReader, type ProjectFactsReader } from './project-facts.ts'

const test_ = await testApp()
const { app, clock } = test_

const ORG = newId()
let number = 0
let spool: Spool
let reader: SpoolReader
let facts: ProjectFactsReader

beforeAll(async () => {
  await app.db.query(
    `insert into orgs (id, slug, name, data_key_sealed, created_at) values ($1, 'o', 'O', 'x', now())`,
    [ORG],
  )
  spool = createSpool(app)
  reader = await claimShards(app)
  facts = createProjectFactsReader(app)
  test_.onClose(async () => {
    await spool.close()
    await reader.close()
    facts.close()
  })
})

type Target = { projectId: string; projectNumber: number; keyId: string }

async function aTarget(settings: Record<string, unknown> = {}): Promise<Target> {
  const target = { projectId: newId(), projectNumber: ++number + 1000, keyId: newId() }
  await app.db.query(
    `insert into projects (id, number, org_id, name, slug, platform, region, settings, created_at) values ($1, $2, $3, 'P', $4, 'web', 'eu-central-1', $5, now())`,
    [target.projectId, target.projectNumber, ORG, `p${number}`, JSON.stringify(settings)],
  )
  return target
}

const entryOf = (target: Target, body: Buffer | string, fields: Partial<SpoolEntry> = {}): SpoolEntry =>
  spoolEntry({ ...target, receivedAtMs: clock.now().getTime(), clientIp: '198.51.100.7', body, ...fields })

async function take(target: Target): Promise<SpoolBatch[]> {
  return reader.read(target.projectNumber % 4, { maxRows: 100, maxBytes: 100_000_000 })
}

async function prepareBatches(
  batches: readonly SpoolBatch[],
  from: ProjectFactsReader = facts,
): Promise<PreparedBatches> {
  const turns = new FairTurns()
  const rows = await Promise.all(batches.map((batch) => prepareRow(app, from, turns, batch)))
  return { batches, entries: rows.flatMap((row) => row?.entries ?? []) }
}

async function digest(target: Target): Promise<{ events: number; duplicates: number; quarantined: number }> {
  const prepared = await prepareBatches(await take(target))
  return commitBatches(app, prepared)
}

const outcomesOf = async (target: Target): Promise<string[]> =>
  (
    await app.db.query<{ line: string }>(
      `select category || ' ' || outcome || ' ' || reason || ' ' || quantity as line from outcomes_hourly where project_id = $1 order by 1`,
      [target.projectId],
    )
  ).rows.map((row) => row.line)

async function onlyStored(target: Target) {
  const { rows } = await app.db.query<{ id: string }>('select id from issues where project_id = $1', [target.projectId])
  expect(rows).toHaveLength(1)
  const stored = await readEvent(app.db, rows[0]?.id ?? '', 'latest')
  if (stored === null) throw new Error('no event')
  return stored
}

describe('bodies', () => {
  test('a compressed envelope with only an event without secrets is stored unchanged', async () => {
    const target = await aTarget()
    const body = gzipSync(envelopeOf(anEvent({ tags: { a: 'b' } })))
    await spool.append(entryOf(target, body, { encoding: 'gzip' }))
    expect(await digest(target)).toMatchObject({ events: 1 })
    const stored = await onlyStored(target)
    expect(stored.body.equals(body)).toBe(true)
    expect(readStoredEvent(stored)).toMatchObject({
      title: 'PaymentError: card declined',
      tags: expect.arrayContaining([{ key: 'a', value: 'b' }]) as unknown,
    })
  })

  test.each([
    ['scrubbing changed it', envelopeOf(anEvent({ extra: { password: 'canary-1' } }))],
    [
      'its envelope header holds a secret',
      envelopeOf(anEvent()).replace('{"event_id"', '{"password":"canary-2","event_id"'),
    ],
    [
      'a repeated key hides a value from the scrubber',
      envelopeOf(anEvent()).replace('"platform"', '"extra":{"password":"canary-3","password":null},"platform"'),
    ],
    ['the envelope has other items', `${envelopeOf(anEvent())}{"type":"attachment","length":8}\ncanary-4\n`],
  ])('is encoded again when %s', async (_why, text) => {
    const target = await aTarget()
    await spool.append(entryOf(target, gzipSync(text), { encoding: 'gzip' }))
    expect(await digest(target)).toMatchObject({ events: 1 })
    const stored = await onlyStored(target)
    expect(stored.encoding).toBe('zstd')
    const { zstdDecompressSync } = await import('node:zlib')
    expect(zstdDecompressSync(stored.body).toString()).not.toContain('canary')
    expect(readStoredEvent(stored).title).toBe('PaymentError: card declined')
  })

  test('a project may have IP addresses removed', async () => {
    const target = await aTarget({ scrub_ip_addresses: true })
    await spool.append(entryOf(target, envelopeOf(anEvent({ user: { id: '1', ip_address: '203.0.113.9' } }))))
    await digest(target)
    const stored = await onlyStored(target)
    expect(stored.clientIp).toBeNull()
    expect(JSON.stringify(readStoredEvent(stored))).not.toContain('203.0.113.9')
  })
})

describe('outcomes', () => {
  test('every item has exactly one', async () => {
    const target = await aTarget()
    const event = JSON.stringify(anEvent())
    const text = [
      '{}',
      '{"type":"session"}',
      '{"sid":"1"}',
      '{"type":"event"}',
      event,
      '{"type":"event"}',
      event,
      '{"type":"brand_new","length":3}',
      'abc',
      '{"type":"client_report"}',
      '{}',
      '{"type":"attachment","length":2}',
      'xy',
    ].join('\n')
    await spool.append(entryOf(target, text, { dropped: [{ index: 5, reason: 'too_large' }] }))
    await digest(target)
    expect(await outcomesOf(target)).toEqual([
      'attachment invalid too_large 1',
      'default discarded unknown_type 1',
      'error accepted  1',
      'error discarded second_event 1',
      'internal accepted  1',
      'session invalid bad_sid 1',
    ])
  })

  test.each([
    ['not JSON', '{"exception":', 'not_json'],
    ['a list', '[1,2]', 'not_an_object'],
    ['too deep', `{"extra":${'['.repeat(70)}${']'.repeat(70)}}`, 'too_deep'],
    ['10^6 levels deep', '['.repeat(1_000_000), 'too_deep'],
    ['too many values', `{"extra":[${'1,'.repeat(100_001)}1]}`, 'too_many_values'],
    ['over 1 MiB', `{"message":"${'x'.repeat(1024 * 1024)}"}`, 'too_large'],
  ])('an event that is %s is invalid and does not affect others', async (_what, payload, reason) => {
    const target = await aTarget()
    await spool.append(entryOf(target, `{}\n{"type":"event"}\n${payload}`))
    await spool.append(entryOf(target, envelopeOf(anEvent())))
    expect(await digest(target)).toMatchObject({ events: 1, quarantined: 0 })
    expect(await outcomesOf(target)).toEqual(['error accepted  1', `error invalid ${reason} 1`])
  })

  test('strange but valid events become issues', async () => {
    const target = await aTarget()
    const strange = [
      { message: 'm'.repeat(1_000_000) },
      { message: 'NUL \u0000 and lone \ud800 surrogate', tags: { 'n\u0000': '\udc00' } },
      { timestamp: '1970-01-01T00:00:00Z', message: 'old' },
      { timestamp: '2099-01-01T00:00:00Z', message: 'future' },
      { message: 'crumbs', breadcrumbs: Array.from({ length: 10_000 }, (_, i) => ({ message: `crumb ${i}` })) },
      JSON.parse(
        '{"message":"proto","__proto__":{"polluted":true},"extra":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}',
      ) as Record<string, unknown>,
      { exception: 'not a list', message: 7, tags: 'x', user: [], request: 1, contexts: [], level: {} },
      {},
    ]
    for (const fields of strange) await spool.append(entryOf(target, envelopeOf({ event_id: newEventId(), ...fields })))
    expect(await digest(target)).toMatchObject({ events: strange.length, quarantined: 0 })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    const { rows } = await app.db.query<{ first_seen: Date; last_seen: Date }>(
      'select first_seen, last_seen from issues where project_id = $1',
      [target.projectId],
    )
    for (const row of rows) {
      expect(row.first_seen.getTime()).toBeGreaterThan(clock.now().getTime() - 31 * 86_400_000)
      expect(row.last_seen.getTime()).toBeLessThanOrEqual(clock.now().getTime() + 60_000)
    }
  })
})

describe('failures', () => {
  test('symbols that cannot be read cost nothing: the event is kept as sent, and waits for a database that is away', async () => {
    const target = await aTarget()
    await spool.append(entryOf(target, envelopeOf(anEvent())))
    const batches = await take(target)
    const failing = (code: string): ProjectFactsReader => {
      const intercepted = interceptedApp(test_, (text, run) =>
        text.includes('from symbol_files') ? Promise.reject(Object.assign(new Error('no'), { code })) : run(),
      )
      const own = createProjectFactsReader({ ...intercepted, bus: { ...app.bus } }, symbolicateFor)
      test_.onClose(async () => own.close())
      return own
    }
    await expect(prepareBatches(batches, failing('57P01'))).rejects.toMatchObject({ code: '57P01' })
    const prepared = await prepareBatches(batches, failing('22012'))
    expect(await commitBatches(app, prepared)).toMatchObject({ events: 1, quarantined: 0 })
    expect(await outcomesOf(target)).toEqual(['error accepted  1'])
  })

  test('an entry that cannot be decoded goes to quarantine with its reason; others are recorded', async () => {
    const target = await aTarget()
    await Promise.all([
      spool.append(entryOf(target, envelopeOf(anEvent()))),
      spool.append(entryOf(target, 'this is no gzip', { encoding: 'gzip' })),
      spool.append(entryOf(target, envelopeOf(anEvent()))),
    ])
    expect(await digest(target)).toMatchObject({ events: 2, quarantined: 1 })
    const { rows } = await app.db.query<{ reason: string; body: Buffer }>(
      'select reason, body from spool_quarantine where project_id = $1',
      [target.projectId],
    )
    expect(rows).toMatchObject([{ body: Buffer.from('this is no gzip') }])
    expect(rows[0]?.reason).toMatch(/^AppError/)
    expect(await outcomesOf(target)).toContain('default dropped quarantine 1')
    expect(await take(target)).toEqual([])
  })

  test.each([
    ['a value the database refuses', { culprit: 'nul \0' }],
    ['an exception in our own code', { event: null as never }],
  ])('%s quarantines its own entry, not the batch', async (_what, fault) => {
    const target = await aTarget()
    for (let i = 0; i < 5; i++) await spool.append(entryOf(target, envelopeOf(anEvent({ error: { type: `E${i}` } }))))
    const prepared = await prepareBatches(await take(target))
    const broken: PreparedBatches = {
      ...prepared,
      entries: prepared.entries.map((entry, index) =>
        index === 2
          ? {
              ...entry,
              items: (entry.items ?? []).map((item) =>
                'kind' in item && item.kind === 'event' ? { ...item, fact: { ...item.fact, ...fault } } : item,
              ),
            }
          : entry,
      ),
    }
    expect(await commitBatches(app, broken)).toMatchObject({ events: 4, quarantined: 1 })
    expect(await outcomesOf(target)).toEqual(['error accepted  4', 'error dropped quarantine 1'])

    // A later version can record it.
    const filter = { projectId: target.projectId }
    const signal = new AbortController().signal
    expect(await retryQuarantined(app, filter, signal)).toEqual({ moved: 1, unreadable: 0 })
    expect(await retryQuarantined(app, filter, signal)).toEqual({ moved: 0, unreadable: 0 })
    expect(await digest(target)).toMatchObject({ events: 1, quarantined: 0 })
    expect(await outcomesOf(target)).toEqual(['error accepted  5', 'error dropped quarantine 0'])
  })

  test('what fails again returns to quarantine once, and counts as dropped once', async () => {
    const target = await aTarget()
    for (let i = 0; i < 12; i++) await spool.append(entryOf(target, `this is no gzip ${i}`, { encoding: 'gzip' }))
    expect(await digest(target)).toMatchObject({ events: 0, quarantined: 12 })
    const filter = { projectId: target.projectId }
    const signal = new AbortController().signal
    // Two operators at once move each request once.
    const moved = await Promise.all([retryQuarantined(app, filter, signal), retryQuarantined(app, filter, signal)])
    expect(moved.reduce((sum, done) => sum + done.moved, 0)).toBe(12)
    expect(await outcomesOf(target)).toEqual(['default dropped quarantine 0'])
    expect(await digest(target)).toMatchObject({ events: 0, quarantined: 12 })
    expect(await outcomesOf(target)).toEqual(['default dropped quarantine 12'])
  })

  test.each([
    [
      'a column',
      'alter table issues rename column culprit to culprit_new',
      'alter table issues rename column culprit_new to culprit',
    ],
    [
      'a table',
      'alter table issue_hours rename to issue_hours_new',
      'alter table issue_hours_new rename to issue_hours',
    ],
    [
      'a unique index',
      'alter table issue_hours drop constraint issue_hours_pkey',
      'alter table issue_hours add primary key (group_id, hour)',
    ],
  ])('a schema without %s, as during an upgrade, does not quarantine entries', async (_what, take_, give) => {
    const target = await aTarget()
    await spool.append(entryOf(target, envelopeOf(anEvent())))
    const prepared = await prepareBatches(await take(target))
    await app.db.query(take_)
    try {
      await expect(commitBatches(app, prepared)).rejects.toThrow(/column|relation|constraint/)
    } finally {
      await app.db.query(give)
    }
    expect(await outcomesOf(target)).toEqual([])
    expect(await commitBatches(app, prepared)).toMatchObject({ events: 1, quarantined: 0 })
  })

  test('concurrent batches with the same new problem create one issue, and nothing is lost or quarantined', async () => {
    const target = await aTarget()
    for (let row = 0; row < 5; row++)
      await spool.append(entryOf(target, envelopeOf(anEvent({ user: { id: `u${row % 3}` }, release: `r@${row}` }))))
    const batches = await take(target)
    expect(batches).toHaveLength(5)
    const prepared = await Promise.all(batches.map((batch) => prepareBatches([batch])))
    const figures = await Promise.all(prepared.map((one) => commitBatches(app, one)))
    expect(figures.reduce((sum, { quarantined }) => sum + quarantined, 0)).toBe(0)
    const { rows } = await app.db.query<Record<string, number>>(
      `select event_count as events, user_count as users,
         (select sum(events)::int from issue_hours where group_id = i.id) as hours,
         (select count(*)::int from issue_activity where issue_id = i.id and kind = 'created') as created
       from issues i where project_id = $1`,
      [target.projectId],
    )
    expect(rows).toEqual([{ events: 5, users: 3, hours: 5, created: 1 }])
    expect(await outcomesOf(target)).toEqual(['error accepted  5'])
  })

  test('rows that another process settled are not recorded twice', async () => {
    const target = await aTarget()
    await spool.append(entryOf(target, envelopeOf(anEvent())))
    const prepared = await prepareBatches(await take(target))
    await commitBatches(app, prepared)
    await expect(commitBatches(app, prepared)).rejects.toThrow(SpoolFencedError)
    expect(await outcomesOf(target)).toEqual(['error accepted  1'])
  })

  test('events of a deleted project are discarded', async () => {
    const target = await aTarget()
    await spool.append(entryOf(target, envelopeOf(anEvent())))
    const batches = await take(target)
    const prepared = await prepareBatches(batches, { of: () => Promise.resolve(null), close() {} })
    expect(await commitBatches(app, prepared)).toMatchObject({ events: 0, quarantined: 0 })
  })

  test('an event id is unique for seven received days, also across midnight', async () => {
    const target = await aTarget()
    const event = anEvent()
    const send = async (day: string): Promise<number> => {
      await spool.append(entryOf(target, envelopeOf(event), { receivedAtMs: Date.parse(day) }))
      clock.set(day)
      return (await digest(target)).events
    }
    expect(await send('2026-11-20T23:59:59.999Z')).toBe(1)
    expect(await send('2026-11-21T00:00:00.001Z')).toBe(0)
    expect(await send('2026-11-26T12:00:00.000Z')).toBe(0)
    expect(await send('2026-11-28T12:00:00.000Z')).toBe(1)
    clock.set('2026-11-20T12:00:00.000Z')
  })
})
