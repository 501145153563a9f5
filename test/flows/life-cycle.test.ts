import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { createProjectFactsReader } from '#server/ingest/digest/project-facts.ts'
import { prepareEvent } from '#server/ingest/digest/prepare-event.ts'
import { RECEIVED_DAY_TABLES } from '#server/ingest/digest/digest.ts'
import { DIGESTION, factContext } from '#server/platform/context/actor.ts'
import { recordEvents } from '#server/issues/recording/record-events.ts'
import type { Occurrence } from '#server/issues/recording/occurrence.ts'
import { ResolutionInput } from '#server/issues/rules/life-cycle.api.ts'
import { history, RELEASES, type HistoryStep } from '#server/issues/rules/life-cycle.fixture.ts'
import { fixFrom } from '#server/issues/rules/life-columns.ts'
import {
  newIssue,
  commitReleased,
  countHour,
  decide,
  mayEscalate,
  onEvents,
  onTime,
  type Life,
  type ArrivedEvent,
  hourlyLimit,
  floorToHour,
  type HourHistory,
} from '#server/issues/rules/life-cycle.ts'
import type { Fix } from '#server/issues/rules/resolution.ts'
import { sweepIssues } from '#server/issues/recording/sweep.ts'
import { updateIssue } from '#server/issues/triage/update-issue.ts'
import { utcDay } from '#server/platform/kernel/day.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import type { ReleaseFacts } from '#server/projects/releases/order.ts'
import { ensureDayPartitions } from '#server/platform/storage/day-partitions.ts'
import { Database } from '#server/platform/storage/database.ts'
import { createPool } from '#server/platform/storage/pool.ts'
import { anEvent } from '#test/kit/sdk.ts'
import { aPerson } from '#test/kit/members.ts'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { testApp } from '#test/kit/test-app.ts'

/**
 * Random histories run through the operations and the pure state machine: events are recorded, members change the
 * issue, time is swept. After every step the row must equal the machine's state.
 */

const { app, clock, onClose, connectionString } = await testApp()
vi.setConfig({ testTimeout: PROPERTY_TIMEOUT_MS })
const HISTORIES = cases(50, 2_000)
const START = new Date('2026-11-20T12:00:00.000Z')
const HOUR_MS = 3_600_000

const person = await aPerson(app)
const { actor } = person
const facts = createProjectFactsReader(app)
onClose(() => {
  facts.close()
  return Promise.resolve()
})

type Row = {
  id: string
  status: string
  status_reason: string | null
  event_count: number
  user_count: number
  resolution: unknown
  moves: number
}

/** One issue and its expected state. */
class Both {
  readonly projectId = newId()
  life: Life = newIssue(START).life
  issueId = ''
  firstSeen = START
  lastSeen = new Date(0)
  events = 0
  moves = 0
  isReleased = false
  readonly users = new Set<number>()
  readonly releases = new Map<string, ReleaseFacts>()
  readonly hours = new Map<number, number>()
  /** Computed once an hour and kept: late events change the next one. */
  limit = { hour: 0, events: 0 }
  template: Occurrence | null = null

  async start(): Promise<void> {
    clock.set(START)
    await app.db
      .insertInto('projects')
      .values({
        id: this.projectId,
        org_id: actor.orgId,
        name: 'Histories',
        slug: `h-${this.projectId}`,
        platform: 'web',
        region: 'eu-central-1',
        created_at: START,
      })
      .execute()
    const project = await facts.of(this.projectId)
    if (project === null) throw new Error('no project')
    const json = Buffer.from(JSON.stringify(anEvent({ release: undefined })))
    const raw = { eventId: '0'.repeat(31) + '1', receivedAt: START, sentAt: null, clientIp: null, userAgent: null }
    const prepared = prepareEvent({ ...raw, decoded: json, start: 0, end: json.length, original: null }, project)
    if ('outcome' in prepared) throw new Error(prepared.reason)
    this.template = prepared.occurrence
    await this.record([{ agoMs: 0, release: 0, user: 0 }])
  }

  async step(step: HistoryStep): Promise<void> {
    clock.advance(1)
    const now = app.clock.now()
    if (step.kind === 'wait') {
      clock.advance(step.ms)
      return
    }
    if (step.kind === 'events') await this.record(step.events)
    else if (step.kind === 'burst')
      await this.record(Array.from({ length: step.events }, () => ({ agoMs: 0, release: 0, user: 0 })))
    else if (step.kind === 'time') await this.sweep(now)
    else if (step.kind === 'released') await this.release(now)
    else await this.decide(step, now)
  }

  async record(events: Extract<HistoryStep, { kind: 'events' }>['events']): Promise<void> {
    const now = app.clock.now()
    const { template } = this
    if (template === null) throw new Error('no template')
    await ensureDayPartitions(app.db, RECEIVED_DAY_TABLES, utcDay(now))
    const occurrences = events.map(({ agoMs, release, user }): Occurrence => ({
      ...template,
      event: {
        ...template.event,
        eventId: newId().replaceAll('-', ''),
        receivedAt: now,
        occurredAt: new Date(now.getTime() - agoMs),
        release: RELEASES[release] ?? null,
        userHash: user + 1,
      },
    }))
    const seen = occurrences.map(({ event: { eventId, occurredAt, release } }): ArrivedEvent => ({
      eventId,
      occurredAt,
      release,
    }))
    for (const { release } of seen) if (release !== null) await this.see(release, now)
    const context = { projectId: this.projectId, keyId: newId(), receivedAt: now, orgId: actor.orgId }
    await app.tx((tx) =>
      recordEvents(
        tx,
        factContext(app, DIGESTION, now),
        occurrences.map((fact) => ({ fact, context })),
      ),
    )
    this.expectEvents(
      seen,
      events.map(({ user }) => user),
      now,
    )
    if (this.issueId === '') {
      const row = await app.db
        .selectFrom('issues')
        .select('id')
        .where('project_id', '=', this.projectId)
        .executeTakeFirstOrThrow()
      this.issueId = row.id
    }
  }

  /** Records a batch as digestion does. */
  async see(version: string, now: Date): Promise<void> {
    if (this.releases.get(version)?.firstSeenAt != null) return
    await app.db.query(
      `insert into releases (id, project_id, version, state, created_at, first_seen_at) values ($1, $2, $3, 'open', $4, $4)
       on conflict (project_id, version) do update set state = 'open', first_seen_at = coalesce(releases.first_seen_at, excluded.first_seen_at)`,
      [newId(), this.projectId, version, now],
    )
    const createdAt = this.releases.get(version)?.createdAt ?? now
    this.releases.set(version, { version, releasedAt: null, createdAt, firstSeenAt: now })
  }

  /** A release that a member or a tool creates, before its first event. */
  create(version: string, now: Date): void {
    if (!this.releases.has(version))
      this.releases.set(version, { version, releasedAt: null, createdAt: now, firstSeenAt: null })
  }

  /** @param users the user of each event */
  expectEvents(seen: readonly ArrivedEvent[], users: readonly number[], now: Date): void {
    const met = new Map<number, Date>()
    for (const [index, { occurredAt }] of seen.entries()) {
      const user = users[index] ?? -1
      const known = met.get(user)
      if (!this.users.has(user) && (known === undefined || occurredAt < known)) met.set(user, occurredAt)
    }
    for (const user of met.keys()) this.users.add(user)
    this.events += seen.length
    for (const { occurredAt } of seen) {
      if (occurredAt < this.firstSeen) this.firstSeen = occurredAt
      if (occurredAt > this.lastSeen) this.lastSeen = occurredAt
      const hour = floorToHour(occurredAt).getTime()
      this.hours.set(hour, (this.hours.get(hour) ?? 0) + 1)
    }
    this.take(onEvents(this.life, { events: seen, newUsers: [...met.values()], releases: this.releases }, now))
    const touched = new Set(seen.map((event) => floorToHour(event.occurredAt).getTime()))
    const judged = floorToHour(new Date(now.getTime() - 5 * 60_000)).getTime()
    for (const at of [...touched].filter((hour) => hour >= judged).toSorted((a, b) => a - b)) {
      const events = this.hours.get(at) ?? 0
      if (events < 10 || !mayEscalate(this.life, now)) continue
      if (this.limit.hour !== at) this.limit = { hour: at, events: hourlyLimit(this.historyBefore(new Date(at))) }
      this.take(countHour(this.life, { events, limit: this.limit.events }, now))
    }
  }

  historyBefore(hour: Date): HourHistory {
    const counts = [...this.hours]
      .filter(([at]) => at < hour.getTime() && at >= hour.getTime() - 14 * 24 * HOUR_MS)
      .map(([, events]) => events)
      .toSorted((a, b) => a - b)
    const middle = counts.length / 2
    return {
      hour,
      firstSeen: this.firstSeen,
      busyHours: counts.length,
      sum: counts.reduce((sum, count) => sum + count, 0),
      sumOfSquares: counts.reduce((sum, count) => sum + count * count, 0),
      largest: counts.at(-1) ?? 0,
      busyMedian:
        counts.length % 2 === 1
          ? (counts[Math.floor(middle)] ?? 0)
          : ((counts[middle - 1] ?? 0) + (counts[middle] ?? 0)) / 2,
    }
  }

  async sweep(now: Date): Promise<void> {
    await sweepIssues(app)
    this.take(onTime(this.life, { now, lastSeen: this.lastSeen, autoResolveDays: 14 }))
    if (this.isReleased) this.take(commitReleased(this.life, ['3.0.2']))
  }

  async release(now: Date): Promise<void> {
    await app.db.query(
      `insert into releases (id, project_id, version, state, created_at) values ($1, $2, '3.0.2', 'planned', $3) on conflict do nothing`,
      [newId(), this.projectId, now],
    )
    await app.db.query(
      `insert into release_commits (release_id, project_id, sha, position)
       select id, project_id, 'abcdef1234567890abcdef1234567890abcdef12', 0 from releases where project_id = $1 and version = '3.0.2'
       on conflict do nothing`,
      [this.projectId],
    )
    this.isReleased = true
    this.create('3.0.2', now)
    await this.sweep(now)
  }

  async decide(step: Extract<HistoryStep, { kind: 'status' | 'fix' | 'ignore' }>, now: Date): Promise<void> {
    const { issueId } = this
    if (step.kind === 'status') {
      await updateIssue(app, actor, { issueId, status: step.status })
      this.take(decide(this.life, { status: step.status }, 'By hand.', now))
      return
    }
    if (step.kind === 'ignore') {
      const { inMs, ...rest } = step.until
      const until = inMs === undefined ? rest : { time: new Date(now.getTime() + inMs).toISOString(), ...rest }
      const asked = Object.keys(until).length === 0 ? null : until
      await updateIssue(app, actor, { issueId, status: 'ignored', ignore_until: asked })
      this.take(decide(this.life, { status: 'ignored', until: asked }, 'By hand.', now))
      return
    }
    const { fix } = step
    const resolution = ResolutionInput.parse(
      fix === 'now'
        ? { now: true }
        : fix === 'next'
          ? { in_next_release: true }
          : fix === 'commit'
            ? { in_commit: 'ABCDEF1' }
            : { in_release: fix.map((index) => RELEASES[index]) },
    )
    await updateIssue(app, actor, { issueId, status: 'resolved', resolution })
    if (typeof fix === 'object') for (const index of fix) this.create(RELEASES[index] ?? '', now)
    this.take(decide(this.life, { status: 'resolved', fix: await this.fixOf(fix) }, 'By hand.', now))
  }

  async fixOf(fix: Extract<HistoryStep, { kind: 'fix' }>['fix']): Promise<Fix> {
    if (fix === 'now') return { kind: 'now' }
    if (fix === 'commit')
      return this.isReleased ? { kind: 'release', versions: ['3.0.2'] } : { kind: 'commit', sha: 'abcdef1' }
    // The order of releases has its own tests.
    if (fix === 'next') return fixFrom((await this.row()).resolution) ?? { kind: 'now' }
    return { kind: 'release', versions: fix.map((index) => RELEASES[index] ?? '') }
  }

  take(step: { readonly life: Life; readonly facts: readonly { readonly kind: string }[] }): void {
    this.moves += step.facts.filter((fact) => fact.kind !== 'issue.late_events_received').length
    this.life = step.life
  }

  async row(): Promise<Row> {
    const { rows } = await app.db.query<Row>(
      `select i.id, status, status_reason, event_count, user_count, resolution,
         (select count(*) from issue_activity a where a.issue_id = i.id and kind in ('status_changed', 'resolution_changed')) as moves
       from issues i where project_id = $1`,
      [this.projectId],
    )
    const [row] = rows
    if (row === undefined || rows.length > 1) throw new Error(`${rows.length} issues`)
    return row
  }

  /** The row and its expected state. */
  async compare() {
    const row = await this.row()
    const { life } = this
    const late = (row.resolution as { late?: { before: number; unfixed: number } } | null)?.late
    // A member's decision is worded with the member's name, and is tested beside the operation.
    const isWorded = life.reason?.startsWith('By hand') === true
    return {
      actual: {
        status: row.status,
        events: row.event_count,
        users: row.user_count,
        moves: row.moves,
        reason: isWorded ? null : shortened(row.status_reason),
        late: [late?.before ?? 0, late?.unfixed ?? 0],
      },
      expected: {
        status: life.status,
        events: this.events,
        users: this.users.size,
        moves: this.moves,
        reason: isWorded ? null : shortened(life.reason),
        late: [life.resolved?.late?.before ?? 0, life.resolved?.late?.unfixed ?? 0],
      },
    }
  }
}

/** Ids of events of the same moment are random, so any of them may be named. */
const shortened = (reason: string | null): string | undefined => reason?.replace(/event [0-9a-f]{8}/, 'event')

test(`${HISTORIES} histories end in the database as in the state machine`, async () => {
  await fc.assert(
    fc.asyncProperty(history(14), async (steps) => {
      const both = new Both()
      await both.start()
      for (const step of steps) {
        await both.step(step)
        const { actual, expected } = await both.compare()
        expect(actual).toEqual(expected)
      }
      await app.db.query('delete from issues where project_id = $1', [both.projectId])
      await app.db.query('delete from projects where id = $1', [both.projectId])
    }),
    { numRuns: HISTORIES },
  )
})

/** On a busy machine a connection may not be free in time: nothing was done, and the caller retries. */
async function patiently(work: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('timeout exceeded when trying to connect')) throw error
    }
  }
}

test('a hundred concurrent writers on one issue: events, members and sweeps; counts are exact, all finish', async () => {
  const both = new Both()
  await both.start()
  const { issueId } = both
  const statuses = ['resolved', 'ignored', 'unresolved', 'escalated', 'regressed'] as const
  const now = app.clock.now()
  const { template } = both
  if (template === null) throw new Error('no template')
  const context = { projectId: both.projectId, keyId: newId(), receivedAt: now, orgId: actor.orgId }
  // Like digesters of other processes: separate connections, more than this process has.
  const writers = new Database(createPool({ connectionString, name: 'writers', max: 20, onError: () => {} }))
  onClose(() => writers.close())
  const batch = (writer: number) =>
    writers.tx((tx) =>
      recordEvents(
        tx,
        factContext(app, DIGESTION, now),
        Array.from({ length: 5 }, (_, index) => ({
          context,
          fact: {
            ...template,
            event: { ...template.event, eventId: newId().replaceAll('-', ''), userHash: 100 + writer * 5 + index },
          },
        })),
      ),
    )
  await Promise.all(
    Array.from({ length: 100 }, (_, writer) => {
      const status = statuses[Math.floor(writer / 10) % 5]
      if (writer % 10 === 9) return patiently(() => sweepIssues(app))
      if (writer % 5 === 4) return patiently(() => updateIssue(app, actor, { issueId, status }))
      return patiently(() => batch(writer))
    }),
  )
  const written = Array.from({ length: 100 }, (_, writer) => writer).filter(
    (writer) => writer % 10 !== 9 && writer % 5 !== 4,
  )
  const { rows } = await app.db.query<{
    events: number
    users: number
    hours: number
    stored: number
    minutes: number
  }>(
    `select event_count as events, user_count as users,
       (select sum(events)::int from issue_hours where group_id = i.id) as hours,
       (select sum(events)::int from project_minutes where project_id = i.project_id) as minutes,
       (select count(*) from events where issue_id = i.id) as stored
     from issues i where id = $1`,
    [issueId],
  )
  const events = 1 + 5 * written.length
  expect(rows).toEqual([{ events, users: 1 + 5 * written.length, hours: events, stored: events, minutes: events }])
  // Each transition starts where the one before ended; events at the moment of a resolution are late ones.
  const { rows: moves } = await app.db.query<{ from: string; to: string }>(
    `select data ->> 'from' as from, data ->> 'to' as to from issue_activity
     where issue_id = $1 and kind = 'status_changed' order by id`,
    [issueId],
  )
  expect(moves.length).toBeGreaterThan(3)
  expect(moves.map((move) => move.from)).toEqual(['unresolved', ...moves.map((move) => move.to)].slice(0, -1))
  expect((await both.row()).status).toBe(moves.at(-1)?.to)
  const { rows: deadlocks } = await app.db.query<{ n: number }>(
    'select deadlocks::int as n from pg_stat_database where datname = current_database()',
  )
  expect(deadlocks[0]?.n).toBe(0)
}, 60_000)
