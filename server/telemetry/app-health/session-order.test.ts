import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { SESSION_STATUSES, type SessionUpdate } from '../../events/protocol/session.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { foldHealth } from './fold-health.ts'
import { recordSessions } from './record-sessions.ts'
import { readSessionTotals } from './session-totals.ts'
import { anAttribute, anUpdate, everythingOf, sessionFact, NOW, sidOf } from './sessions.fixture.ts'

const { app, clock } = await testApp()
clock.set(new Date(NOW))

describe('updates in any order, repeated, in any batches', () => {
  type Delivery = { readonly updates: readonly SessionUpdate[]; readonly sizes: readonly number[] }

  async function deliver(projectId: string, { updates, sizes }: Delivery) {
    for (const table of ['app_sessions', 'health_deltas', 'health_rollups', 'health_sketches'])
      await app.db.query(`delete from ${table} where project_id = $1`, [projectId])
    let at = 0
    for (const size of [...sizes, updates.length]) {
      const batch = updates.slice(at, at + size)
      if (batch.length > 0) {
        const facts = batch.map((update) => sessionFact(projectId, update))
        await app.tx((tx) => recordSessions(tx, new Date(NOW), facts))
      }
      at += size
    }
    return everythingOf(app, projectId)
  }

  /** The same updates, some of them repeated, in random order and batches. */
  const otherDelivery = (updates: readonly SessionUpdate[]): fc.Arbitrary<Delivery> =>
    fc
      .tuple(
        fc.array(fc.nat(updates.length - 1), { maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 6 }),
      )
      .chain(([again, sizes]) => {
        const all = [...updates, ...again.flatMap((index) => updates[index] ?? [])]
        return fc
          .shuffledSubarray(all, { minLength: all.length })
          .map((shuffled): Delivery => ({ updates: shuffled, sizes }))
      })

  const update = (identity: fc.Arbitrary<Partial<SessionUpdate>>): fc.Arbitrary<SessionUpdate> =>
    fc
      .tuple(
        identity,
        fc.record({
          isInit: fc.boolean(),
          status: fc.constantFrom(...SESSION_STATUSES),
          errors: fc.nat(3),
          timestamp: fc.integer({ min: NOW - 500_000, max: NOW }),
          durationMs: fc.option(fc.nat(100_000)),
          mechanism: fc.option(fc.constantFrom('anr_foreground', 'anr_background', 'other')),
        }),
      )
      .map(([own, rest]) => anUpdate({ ...rest, ...own }))

  const sids = fc.constantFrom('one', 'two', 'three')

  test('that are consistent give the same rows and rollups, byte for byte except durations', async () => {
    // Every update of a session has the same start, release and user.
    const honest = update(
      sids.map((name) => ({
        sid: sidOf(name),
        did: name === 'three' ? 'two' : name,
        startedAt: NOW - name.length * 100_000,
        attributes: anAttribute({ release: `shop@${name.length}` }),
      })),
    )
    const projectId = newId()
    await fc.assert(
      fc.asyncProperty(
        fc
          .array(honest, { minLength: 1, maxLength: 12 })
          .chain((all) => fc.tuple(fc.constant(all), otherDelivery(all))),
        async ([all, other]) => {
          const first = await deliver(projectId, { updates: all, sizes: [] })
          const second = await deliver(projectId, other)
          expect(second.sessions).toEqual(first.sessions)
          expect(second.rollups.map(withoutDurations)).toEqual(first.rollups.map(withoutDurations))
          expect(second.rollups.map(durationFigures)).toEqual(first.rollups.map(durationFigures))
        },
      ),
      { numRuns: cases(15, 120) },
    )
  })

  test('that contradict each other give the same rows and counts', async () => {
    const contradicting = update(
      fc.record({
        sid: sids.map(sidOf),
        did: fc.option(fc.constantFrom('ada', 'bob')),
        startedAt: fc.constantFrom(NOW - 50_000, NOW - 400_000, NOW - 90_000_000),
        attributes: fc.constantFrom(anAttribute(), anAttribute({ release: 'other' }), anAttribute({ os: 'iOS' })),
      }),
    )
    const projectId = newId()
    await fc.assert(
      fc.asyncProperty(
        fc
          .array(contradicting, { minLength: 1, maxLength: 12 })
          .chain((all) => fc.tuple(fc.constant(all), otherDelivery(all))),
        async ([all, other]) => {
          const first = await deliver(projectId, { updates: all, sizes: [] })
          const second = await deliver(projectId, other)
          expect(second.sessions).toEqual(first.sessions)
          expect(countsOf(second.rollups)).toEqual(countsOf(first.rollups))
          const sessions = second.rollups.filter((row) => row['attributes_id'] === 0 && row['bucket_seconds'] === 60)
          expect(sessions.reduce((sum, row) => sum + row.total, 0)).toBe(second.sessions.length)
        },
      ),
      { numRuns: cases(15, 120) },
    )
  })

  test('count each session in one class, and an ANR only where the app ended by it', async () => {
    const projectId = newId()
    const ofOneStart = update(
      sids.map((name) => ({ sid: sidOf(name), did: name, startedAt: NOW - name.length * 100_000 })),
    )
    await fc.assert(
      fc.asyncProperty(
        fc
          .array(ofOneStart, { minLength: 1, maxLength: 12 })
          .chain((all) => fc.tuple(fc.constant(all), otherDelivery(all))),
        async ([all, other]) => {
          await deliver(projectId, other)
          const read = () =>
            readSessionTotals(app.db, { projectId, from: new Date(NOW - 86_400_000), to: new Date(NOW) })
          const counted = await read()
          expect(counted).toMatchObject(expectedOf(all))
          await foldHealth(app)
          expect(await read()).toEqual(counted)
        },
      ),
      { numRuns: cases(15, 120) },
    )
  })

  /** The class of each session by its worst update, counted without the code that is tested. */
  function expectedOf(all: readonly SessionUpdate[]) {
    const bySid = [...Map.groupBy(all, ({ sid }) => sid).values()]
    const has = (updates: readonly SessionUpdate[], status: string) => updates.some((one) => one.status === status)
    const classes = bySid.map((updates) =>
      has(updates, 'crashed')
        ? 'crashed'
        : has(updates, 'abnormal')
          ? 'abnormal'
          : has(updates, 'unhandled')
            ? 'unhandled'
            : has(updates, 'errored') || updates.some(({ errors }) => errors > 0)
              ? 'errored'
              : 'healthy',
    )
    const count = (name: string) => classes.filter((one) => one === name).length
    const hung = bySid.filter((_, index) => classes[index] === 'abnormal')
    const isIn = (mechanism: string) => (updates: readonly SessionUpdate[]) =>
      updates.some((one) => one.mechanism === mechanism)
    const foreground = hung.filter(isIn('anr_foreground')).length
    return {
      total: bySid.length,
      crashed: count('crashed'),
      abnormal: count('abnormal'),
      unhandled: count('unhandled'),
      errored: count('errored'),
      healthy: count('healthy'),
      anr_foreground: foreground,
      anr_background: hung.filter((one) => !isIn('anr_foreground')(one) && isIn('anr_background')(one)).length,
    }
  }

  type Row = Record<string, unknown> & { durations: Buffer | null }
  const withoutDurations = ({ durations, ...row }: Row) => ({ ...row, hasDurations: durations !== null })
  /** Minimum and maximum are within 1 % after a duration was replaced by a longer one. */
  const durationFigures = ({ durations }: Row) => {
    const sketch = durations === null ? new DDSketch() : DDSketch.fromBytes(durations)
    return { count: sketch.count, sum: sketch.sum }
  }
  /** Rows with counts, without those of users, which only grow. A row that all its sessions left stays, empty. */
  const countsOf = (rows: readonly Row[]) =>
    rows
      .map((row) =>
        Object.entries(row).filter(
          ([column, value]) => !column.endsWith('users_count') && !Buffer.isBuffer(value) && value !== null,
        ),
      )
      .map((entries) => Object.fromEntries(entries))
      .filter((row) => row['total'] !== 0)
})
