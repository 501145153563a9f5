import { beforeEach, describe, expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { anEvent, newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { RECEIVED_DAY_TABLES } from '../../ingest/digest/digest.ts'
import { prepareEvent } from '../../ingest/digest/prepare-event.ts'
import { createProjectFactsReader } from '../../ingest/digest/project-facts.ts'
import { DIGESTION, factContext } from '../../platform/context/actor.ts'
import { recordEvents } from './record-events.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { KnownReleases, recordSightings } from '../../projects/releases/record-sightings.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { createPool } from '../../platform/storage/pool.ts'
import type { IgnoreUntilInput, ResolutionInput } from '../rules/life-cycle.api.ts'
import { Database } from '../../platform/storage/database.ts'
import type { Occurrence } from './occurrence.ts'
import { sweepIssues } from './sweep.ts'
import { updateIssue } from '../triage/update-issue.ts'

/** Transitions by events: batches, wrong clocks, concurrent digesters. */

const { app, clock, onClose, connectionString } = await testApp()
const START = '2026-11-20T12:30:00.000Z'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const { actor } = await aPerson(app)
const facts = createProjectFactsReader(app)
const writers = new Database(createPool({ connectionString, name: 'writers', max: 12, onError: () => {} }))
onClose(async () => {
  facts.close()
  await writers.close()
})

type Sent = {
  readonly release?: string | undefined
  readonly user?: string
  /** Time of the event by the client's clock; default: now. */
  readonly at?: number
  /** Time of the request by the client's clock; null: not sent; default: now. */
  readonly sentAt?: number | null
  /** When the intake received it; default: now. */
  readonly receivedAt?: number
  readonly id?: string
}

let projectId = ''
let issueId = ''
const nowMs = () => app.clock.now().getTime()

beforeEach(async () => {
  clock.set(START)
  projectId = newId()
  await app.db
    .insertInto('projects')
    .values({
      id: projectId,
      org_id: actor.orgId,
      name: 'Lives',
      slug: `l-${projectId}`,
      platform: 'web',
      region: 'eu-central-1',
      created_at: app.clock.now(),
    })
    .execute()
  await record([{ release: 'shop@1.0.0', user: 'first', at: nowMs() - 1_000 }])
  const { rows } = await app.db.query<{ id: string }>('select id from issues where project_id = $1', [projectId])
  issueId = rows[0]?.id ?? ''
  clock.advance(1_000)
})

/** From the JSON an SDK sends to what a batch records. */
async function prepared(sent: readonly Sent[]): Promise<Occurrence[]> {
  const project = await facts.of(projectId)
  if (project === null) throw new Error('no project')
  return sent.map((one): Occurrence => {
    const { release, user, at = nowMs(), sentAt = nowMs(), receivedAt = nowMs(), id = newEventId() } = one
    const fields = { release, timestamp: at / 1000, ...(user === undefined ? {} : { user: { id: user } }) }
    const json = Buffer.from(JSON.stringify(anEvent({ ...fields, event_id: id })))
    const result = prepareEvent(
      {
        eventId: id,
        receivedAt: new Date(receivedAt),
        sentAt: sentAt === null ? null : new Date(sentAt),
        clientIp: null,
        userAgent: null,
        decoded: json,
        start: 0,
        end: json.length,
        original: null,
      },
      project,
    )
    if ('outcome' in result) throw new Error(result.reason)
    return result.occurrence
  })
}

/** Records events as one batch. */
async function record(sent: readonly Sent[]): Promise<void> {
  const occurrences = await prepared(sent)
  await recordSightings(
    app,
    new KnownReleases(),
    app.clock.now(),
    occurrences.flatMap(({ event: { release, receivedAt } }) =>
      release === null ? [] : [{ projectId, version: release, kind: 'event' as const, receivedAt }],
    ),
  )
  await commit(occurrences)
}

async function commit(occurrences: readonly Occurrence[], andThen?: () => never): Promise<readonly unknown[]> {
  const now = app.clock.now()
  await ensureDayPartitions(app.db, RECEIVED_DAY_TABLES, utcDay(now))
  const context = { projectId, keyId: newId(), receivedAt: now, orgId: actor.orgId }
  return writers.tx(async (tx) => {
    const facts = occurrences.map((fact) => ({ fact, context }))
    const outcomes = await recordEvents(tx, factContext(app, DIGESTION, now), facts)
    andThen?.()
    return outcomes
  })
}

const resolve = (resolution?: ResolutionInput) => updateIssue(app, actor, { issueId, status: 'resolved', resolution })
const ignore = (until: IgnoreUntilInput) => updateIssue(app, actor, { issueId, status: 'ignored', ignore_until: until })

async function row() {
  const { rows } = await app.db.query<{ status: string; reason: string; events: number; users: number }>(
    'select status, status_reason as reason, event_count as events, user_count as users from issues where id = $1',
    [issueId],
  )
  return rows[0]
}

/** Activity entries of automatic changes, oldest first. */
async function automatic(): Promise<{ kind: string; sentence: string; data: Record<string, unknown> }[]> {
  const { rows } = await app.db.query<{ kind: string; sentence: string; data: Record<string, unknown> }>(
    `select kind, sentence, data from issue_activity where issue_id = $1 and actor_id is null and kind <> 'created' order by id`,
    [issueId],
  )
  return rows
}

describe('clocks', () => {
  test('an event received before the resolution is before it, even when the client clock is ahead', async () => {
    const receivedAt = nowMs()
    clock.advance(5_000)
    await resolve()
    clock.advance(5_000)
    // Received before, digested afterwards: the clock is 40 s ahead, which is not corrected.
    await record([{ at: receivedAt + 40_000, sentAt: receivedAt + 40_000, receivedAt }])
    expect(await row()).toMatchObject({ status: 'resolved', events: 2 })
    expect(await automatic()).toMatchObject([{ kind: 'late_events', data: { before: 1, unfixed: 0 } }])
  })

  test.each([
    ['a day', DAY_MS],
    ['a year', 365 * DAY_MS],
  ])('a client clock that is %s behind is corrected', async (_, off) => {
    await resolve()
    clock.advance(10 * MINUTE_MS)
    await record([{ at: nowMs() - 11 * MINUTE_MS - off, sentAt: nowMs() - off }])
    expect((await row())?.status).toBe('resolved')
    await record([{ at: nowMs() - 9 * MINUTE_MS - off, sentAt: nowMs() - off }])
    expect((await row())?.status).toBe('regressed')
  })

  test.each([
    ['a day', DAY_MS],
    ['a year', 365 * DAY_MS],
  ])('a client clock that is %s ahead is corrected', async (_, off) => {
    await resolve()
    clock.advance(10 * MINUTE_MS)
    await record([{ at: nowMs() - 11 * MINUTE_MS + off, sentAt: nowMs() + off }])
    expect((await row())?.status).toBe('resolved')
    await record([{ at: nowMs() - 9 * MINUTE_MS + off, sentAt: nowMs() + off }])
    expect((await row())?.status).toBe('regressed')
  })

  test.each([-1, 0, 1])(
    'an event %i ms after the resolution makes the issue regress only if it is later',
    async (ms) => {
      await resolve()
      const at = nowMs() + ms
      clock.advance(MINUTE_MS)
      await record([{ at }])
      expect((await row())?.status).toBe(ms > 0 ? 'regressed' : 'resolved')
    },
  )

  test('events that an app kept for two months are late events, though they are stored by their time of receipt', async () => {
    await resolve()
    clock.advance(DAY_MS)
    await record([{ at: nowMs() - 60 * DAY_MS }])
    expect(await row()).toMatchObject({ status: 'resolved', events: 2 })
    expect((await automatic())[0]?.sentence).toBe(
      'Late events are counted and do not reopen this issue: 1 event happened before it was resolved.',
    )
    // Without a time of sending the client clock may be wrong, so the event counts as new; so does one from 1970.
    await record([{ at: nowMs() - 60 * DAY_MS, sentAt: null }])
    expect((await row())?.status).toBe('regressed')
    clock.advance(1)
    await resolve()
    clock.advance(DAY_MS)
    await record([{ at: 1_000 }])
    expect((await row())?.status).toBe('regressed')
  })
})

describe('the release of the fix', () => {
  test('a planned release named by its short version is the release of the app with that version', async () => {
    await record([{ release: 'com.acme.shop@2.3.1+77' }])
    clock.advance(1_000)
    await resolve({ in_release: '2.3.1' })
    clock.advance(1_000)
    await record([{ release: 'com.acme.shop@2.3.0+76' }])
    expect((await row())?.status).toBe('resolved')
    await record([{ release: 'com.acme.shop@2.3.1+77' }])
    expect((await row())?.reason).toMatch(/from release com\.acme\.shop@2\.3\.1\+77, fixed in 2\.3\.1\.$/)
  })

  test('a hash created as the fix and never seen: what was there before is older, what comes later is newer', async () => {
    await record([{ release: 'aaa1111' }])
    clock.advance(1_000)
    await resolve({ in_release: 'fff9999' })
    clock.advance(1_000)
    await record([{ release: 'aaa1111' }])
    expect((await automatic())[0]?.sentence).toBe(
      'Late events are counted and do not reopen this issue: 1 event comes from aaa1111, which does not have the fix.',
    )
    await record([{ release: 'bbb2222' }])
    expect((await row())?.reason).toMatch(/from release bbb2222, fixed in fff9999\.$/)
  })

  test('a hash as the fix of which nothing is known: the entry says so', async () => {
    await resolve({ in_release: 'fff9999' })
    await app.db.query("delete from releases where project_id = $1 and version = 'fff9999'", [projectId])
    clock.advance(1_000)
    await record([{ release: 'bbb2222' }])
    expect(await automatic()).toMatchObject([
      {
        data: { before: 0, unfixed: 1, unnamed: 0, unknown: 1, release: 'bbb2222' },
        sentence:
          'Late events are counted and do not reopen this issue: 1 event comes from bbb2222, which is not known to have the fix.',
      },
    ])
  })

  test('the first events of the fixed release make the issue regress in the same batch', async () => {
    await resolve({ in_release: 'shop@2.0.0' })
    clock.advance(1_000)
    await record([{ release: 'shop@1.9.0' }, { release: 'shop@2.0.0' }, {}])
    expect((await automatic()).map(({ kind, data }) => [kind, data['release'], data['late_events']])).toEqual([
      ['status_changed', 'shop@2.0.0', 2],
    ])
  })

  test('in the next release: older releases do not make it regress, also when their first event comes later', async () => {
    await record([{ release: 'shop@2.0.0' }])
    clock.advance(1_000)
    await resolve({ in_next_release: true })
    clock.advance(1_000)
    // The first event of an old release.
    await record([{ release: 'shop@1.9.0' }, { release: 'shop@2.0.0' }, { release: 'v2.0' }, {}])
    expect(await automatic()).toMatchObject([{ kind: 'late_events', data: { before: 0, unfixed: 4, unnamed: 1 } }])
    await record([{ release: 'shop@2.0.1' }])
    expect((await row())?.reason).toMatch(/from release shop@2\.0\.1, fixed in the release after shop@2\.0\.0\.$/)
  })

  test('in the next release, with two apps in a project: an old release of the other app does not make it regress', async () => {
    await record([{ release: 'com.b@7.0.0' }, { release: 'com.a@3.0.0' }])
    clock.advance(1_000)
    await resolve({ in_next_release: true })
    clock.advance(1_000)
    await record([{ release: 'com.a@2.5.0' }, { release: 'com.b@6.9.9' }])
    expect((await row())?.status).toBe('resolved')
    await record([{ release: 'com.a@3.0.1' }])
    expect((await row())?.status).toBe('regressed')
  })

  test('in the next release, without known releases: the first release makes it regress', async () => {
    await app.db.query('delete from releases where project_id = $1', [projectId])
    await resolve({ in_next_release: true })
    clock.advance(1_000)
    await record([{}])
    expect((await row())?.status).toBe('resolved')
    await record([{ release: '🚀' }])
    expect((await row())?.reason).toMatch(/from release 🚀, fixed in the next release\.$/u)
  })
})

describe('a batch', () => {
  test('that makes an issue regress and escalate records two transitions, each with its sentence', async () => {
    await resolve()
    clock.advance(1_000)
    await record(Array.from({ length: 60 }, () => ({})))
    expect(await row()).toMatchObject({ status: 'escalated', events: 61 })
    const entries = await automatic()
    expect(entries.map(({ data }) => [data['from'], data['to']])).toEqual([
      ['resolved', 'regressed'],
      ['regressed', 'escalated'],
    ])
    expect(entries[1]?.sentence).toBe('Escalated: 61 events within an hour, above the limit of 50.')
  })

  test('that waited for a member’s change is listed after it in the activity', async () => {
    clock.advance(MINUTE_MS)
    await updateIssue(app, actor, { issueId, status: 'regressed' })
    clock.advance(-MINUTE_MS)
    await record(Array.from({ length: 60 }, () => ({})))
    const { rows } = await app.db.query<{ to: string }>(
      `select data ->> 'to' as to from issue_activity where issue_id = $1 and kind = 'status_changed' order by created_at desc, id desc`,
      [issueId],
    )
    expect(rows.map((entry) => entry.to)).toEqual(['escalated', 'regressed'])
  })

  test('that waited for a change of one issue keeps its own time for other issues and for users', async () => {
    clock.set('2026-11-20T23:59:50.000Z')
    const elsewhere = async (): Promise<Occurrence[]> =>
      (await prepared([{}])).map((one) => ({
        ...one,
        fingerprint: { ...one.fingerprint, hash: Buffer.from(one.fingerprint.hash).fill(7) },
      }))
    await commit(await elsewhere())
    const { rows } = await app.db.query<{ id: string }>('select id from issues where project_id = $1 and id <> $2', [
      projectId,
      issueId,
    ])
    const otherId = rows[0]?.id ?? ''
    await updateIssue(app, actor, { issueId: otherId, status: 'resolved' })
    clock.set('2026-11-21T00:00:20.000Z')
    await updateIssue(app, actor, { issueId, status: 'regressed' })
    clock.set('2026-11-20T23:59:51.000Z')
    await commit([...(await prepared([{ user: 'late' }])), ...(await elsewhere())])
    const times = await app.db.query<Record<string, unknown>>(
      `select a.created_at as entry, i.status_changed_at as status from issue_activity a join issues i on i.id = a.issue_id
       where i.id = $1 and a.kind = 'status_changed' and a.actor_id is null`,
      [otherId],
    )
    const at = new Date('2026-11-20T23:59:51.000Z')
    expect(times.rows).toEqual([{ entry: at, status: at }])
    const counted = await app.db.query('select users_day as d, users_today as n from issues where id = $1', [issueId])
    expect(counted.rows).toEqual([{ d: '2026-11-20', n: 2 }])
  })

  test('counts once when it is recorded again after a rollback, and not at all when it is recorded twice', async () => {
    await resolve()
    clock.advance(1_000)
    const occurrences = await prepared([{ user: 'a' }, { user: 'b', at: nowMs() - HOUR_MS }])
    const crash = (): never => {
      throw new Error('killed')
    }
    await expect(commit(occurrences, crash)).rejects.toThrow('killed')
    expect(await row()).toMatchObject({ status: 'resolved', events: 1 })
    expect(await automatic()).toEqual([])
    await commit(occurrences)
    const once = [await row(), await automatic()]
    expect(once).toMatchObject([{ status: 'regressed', events: 3, users: 3 }, [{ kind: 'status_changed' }]])
    expect(await commit(occurrences)).toEqual([
      expect.objectContaining({ outcome: 'duplicate' }),
      expect.objectContaining({ outcome: 'duplicate' }),
    ])
    expect([await row(), await automatic()]).toEqual(once)
  })

  test('does not escalate an issue at its hourly limit; one event more does', async () => {
    await record(Array.from({ length: 49 }, () => ({})))
    expect(await row()).toMatchObject({ status: 'unresolved', events: 50 })
    await record([{}])
    expect((await row())?.status).toBe('escalated')
  })

  test.each([
    ['almost a week old at 50 events', 7 * DAY_MS - 1, 50],
    ['a week old at 10 events', 7 * DAY_MS, 10],
  ])('escalates an issue %s', async (_, ageMs, limit) => {
    const hour = Date.parse('2026-11-20T12:00:00Z')
    await app.db.query('update issues set first_seen = $2 where id = $1', [issueId, new Date(hour - ageMs)])
    await record(Array.from({ length: limit - 1 }, () => ({})))
    expect((await row())?.status).toBe('unresolved')
    await record([{}])
    expect((await row())?.status).toBe('escalated')
  })
})

describe('an issue ignored', () => {
  test('until more events reopens once, by batches of concurrent digesters', async () => {
    await ignore({ count: 50 })
    clock.advance(1_000)
    await record([{ at: nowMs() - MINUTE_MS }, ...Array.from({ length: 48 }, () => ({}))])
    expect((await row())?.status).toBe('ignored')
    const batches = await Promise.all(Array.from({ length: 12 }, () => prepared(Array.from({ length: 5 }, () => ({})))))
    await Promise.all(batches.map((batch) => commit(batch)))
    const entries = await automatic()
    expect(entries.map(({ data }) => [data['from'], data['to'], data['cause']])).toEqual([
      ['ignored', 'unresolved', 'ignore_count'],
      ['unresolved', 'escalated', 'spike'],
    ])
    expect(await row()).toMatchObject({ events: 1 + 49 + 60 })
  })

  test('until more users counts distinct users who are new to the issue and were affected since', async () => {
    await ignore({ users: 3 })
    clock.advance(MINUTE_MS)
    const late = nowMs() - 2 * MINUTE_MS
    await record([
      { user: 'first' },
      { user: 'a' },
      { user: 'a' },
      { user: 'b' },
      { user: 'b', at: late },
      { user: 'c', at: late },
      { user: 'd', at: late },
      {},
    ])
    // b, c and d were affected before.
    expect((await row())?.status).toBe('ignored')
    await record([{ user: 'e' }, { user: 'c' }])
    expect((await row())?.status).toBe('ignored')
    await record([{ user: 'f' }])
    expect((await row())?.reason).toBe('Reopened after 3 more users: it was ignored until then.')
    expect((await row())?.users).toBe(7)
  })

  test('until more users reopens once, by batches of concurrent digesters', async () => {
    await ignore({ users: 10 })
    clock.advance(1_000)
    const batch = (index: number) => prepared([{ user: `u${index}` }, { user: `u${(index + 1) % 9}` }])
    const some = await Promise.all(Array.from({ length: 9 }, (_, index) => batch(index)))
    await Promise.all(some.map((one) => commit(one)))
    expect(await row()).toMatchObject({ status: 'ignored', users: 10 })
    await Promise.all([prepared([{ user: 'u9' }]), prepared([{ user: 'u9' }])].map(async (one) => commit(await one)))
    expect(await row()).toMatchObject({ status: 'unresolved', users: 11 })
    expect(await automatic()).toHaveLength(1)
  })

  test('until events within a window counts by time of occurrence, not by time of digestion', async () => {
    await ignore({ count: 4, window: 10 })
    clock.advance(2 * HOUR_MS)
    const minutesAgo = (...minutes: number[]) => minutes.map((ago) => ({ at: nowMs() - ago * MINUTE_MS }))
    await record(minutesAgo(100, 95, 80, 75, 60, 55, 40, 35, 20, 15))
    expect((await row())?.status).toBe('ignored')
    await record(minutesAgo(14, 13, 5, 4))
    expect((await row())?.reason).toBe('Reopened after 4 more events within 10 minutes: it was ignored until then.')
  })

  test('until users within a window counts by time of occurrence', async () => {
    await ignore({ users: 2, window: 60 })
    clock.advance(HOUR_MS)
    await record([{ user: 'a', at: nowMs() - 59 * MINUTE_MS }])
    clock.advance(MINUTE_MS)
    await record([{ user: 'b' }])
    expect((await row())?.status).toBe('ignored')
    await record([{ user: 'c' }])
    expect((await row())?.status).toBe('unresolved')
  })

  test('until it escalates stays ignored below the limit', async () => {
    await ignore({ escalating: true })
    clock.advance(1_000)
    await record(Array.from({ length: 49 }, () => ({})))
    expect((await row())?.status).toBe('ignored')
    await record([{}])
    expect(await row()).toMatchObject({ status: 'escalated' })
  })
})

test('a late event of an older release changes the first release of the issue', async () => {
  const first = async () =>
    (
      await app.db.query<{ first_release: string; first_seen: Date }>(
        'select first_release, first_seen from issues where id = $1',
        [issueId],
      )
    ).rows[0]
  expect((await first())?.first_release).toBe('shop@1.0.0')
  await record([{ release: 'shop@0.9.0' }, { at: nowMs() - DAY_MS }])
  expect((await first())?.first_release, 'an older one that names none').toBe('shop@1.0.0')
  await record([{ release: 'shop@0.8.0', at: nowMs() - 2 * DAY_MS }, { release: 'shop@0.9.0' }])
  expect(await first()).toEqual({ first_release: 'shop@0.8.0', first_seen: new Date(nowMs() - 2 * DAY_MS) })
})

test('a user of an event slightly in the future, after midnight, counts for today, and again on the next day', async () => {
  clock.set('2026-11-20T23:59:50.000Z')
  await record([{ user: 'ahead', at: nowMs() + 30_000 }])
  const today = async () =>
    (
      await app.db.query<{ d: string; n: number }>(
        'select users_day as d, users_today as n from issues where id = $1',
        [issueId],
      )
    ).rows[0]
  expect(await today()).toEqual({ d: '2026-11-20', n: 2 })
  clock.set('2026-11-21T00:10:00.000Z')
  await record([{ user: 'ahead' }])
  expect(await today()).toEqual({ d: '2026-11-21', n: 1 })
})

test('the sweep that ends a high-impact day records the fall in severity, also after an event lowered it', async () => {
  const highImpact = { severity: 3, event_severity: 3, high_impact_day: '2026-11-18' }
  await app.db.updateTable('issues').set(highImpact).where('id', '=', issueId).execute()
  await record([{}])
  await sweepIssues(app)
  await sweepIssues(app)
  const { rows } = await app.db.query('select severity, high_impact_day from issues where id = $1', [issueId])
  expect(rows).toEqual([{ severity: 2, high_impact_day: null }])
  expect(await automatic()).toMatchObject([
    {
      sentence: 'Severity fell to high: the issue no longer affects many users.',
      data: { from: 'critical', to: 'high' },
    },
  ])
})
