import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { anEvent, dsnParts, envelopeOf } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { z } from 'zod'
import { addLosses, type LossRow } from './outcomes.queries.ts'
import type { Intake } from './intake.api.ts'

const t = await testServer({ digestion: 'manual' })
const { app, clock } = t

type View = z.output<typeof Intake>

async function aWorld() {
  const owner = await aFounder(t.url)
  const project = await aProject(owner)
  const { key, projectNumber } = dsnParts(project.dsn)
  const read = async (range = '24h'): Promise<View> => {
    const answer = await owner.get(`/api/projects/${project.id}/intake?range=${range}`)
    expect(answer.status, answer.text).toBe(200)
    return answer.body as View
  }
  const post = async (body: string): Promise<number> =>
    (await fetch(`${t.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, { method: 'POST', body })).status
  return { owner, project, key, read, post }
}

describe('the intake of a project', () => {
  test('shows what waits for digestion, of this project only, and so do the metrics', async () => {
    clock.set('2026-11-20T08:00:00Z')
    const [busy, quiet] = [await aWorld(), await aWorld()]
    const body = envelopeOf(anEvent())
    expect(await busy.post(body)).toBe(200)
    expect(await busy.post(body)).toBe(200)
    clock.set('2026-11-20T08:00:30Z')
    expect((await busy.read()).waiting).toEqual({ requests: 2, bytes: 2 * body.length, oldest_seconds: 30 })
    expect((await quiet.read()).waiting).toEqual({ requests: 0, bytes: 0, oldest_seconds: 0 })
    const metrics = async () => (await fetch(`${t.url}/-/metrics`)).text()
    const { projectNumber } = dsnParts(busy.project.dsn)
    expect(await metrics()).toContain(`faultline_spool_project_backlog_age_seconds{project="${projectNumber}"} 30`)
    await t.service.drain()
    expect((await busy.read()).waiting.requests).toBe(0)
    expect(await metrics()).not.toContain('faultline_spool_project_')
  })

  test('shows outcomes by hour, reason and key, and what clients lost', async () => {
    clock.set('2026-11-20T12:34:56Z')
    const { owner, read, post, key, project } = await aWorld()
    const event = anEvent()
    expect(await post(envelopeOf(event))).toBe(200)
    expect(await post(envelopeOf(event))).toBe(200)
    expect(await post('{}\n{"type":"event"}\nnope')).toBe(200)
    const lost = { reason: 'sample_rate', category: 'transaction', quantity: 40 }
    expect(
      await post(
        `{}\n{"type":"client_report"}\n${JSON.stringify({ discarded_events: [lost], filtered_events: [{ ...lost, quantity: 2 }] })}`,
      ),
    ).toBe(200)
    await t.service.drain()
    clock.set('2026-11-20T14:00:00Z')
    await owner.post('/api/auth/login', { email: owner.email, password: owner.password })
    expect(await post(envelopeOf(anEvent()))).toBe(200)
    await t.service.drain()

    const view = await read()
    expect(view).toMatchObject({
      interval_seconds: 3_600,
      from: '2026-11-19T15:00:00.000Z',
      to: '2026-11-20T15:00:00.000Z',
      client_losses: [
        { kind: 'discarded', ...lost },
        { kind: 'filtered', ...lost, quantity: 2 },
      ],
      storms: [],
      limits: {
        per_minute: 3_000,
        burst_10s: 1_000,
        sessions_per_minute: 60_000,
        entries_per_minute: 30_000,
        is_default: true,
        spike_protection: true,
      },
      quota: { events_per_day: null, used_today: 0, resets_at: '2026-11-21T00:00:00.000Z' },
    })
    expect(view.points).toHaveLength(24)
    expect(view.points.filter(({ outcomes }) => outcomes.length > 0)).toEqual([
      {
        t: '2026-11-20T12:00:00.000Z',
        outcomes: [
          { outcome: 'accepted', category: 'error', quantity: 1 },
          { outcome: 'accepted', category: 'internal', quantity: 1 },
          { outcome: 'invalid', category: 'error', quantity: 1 },
          { outcome: 'duplicate', category: 'error', quantity: 1 },
        ],
      },
      { t: '2026-11-20T14:00:00.000Z', outcomes: [{ outcome: 'accepted', category: 'error', quantity: 1 }] },
    ])
    expect(view.totals[0]).toEqual({ outcome: 'accepted', reason: '', category: 'error', quantity: 2 })
    expect(view.totals).toContainEqual({ outcome: 'invalid', reason: 'not_json', category: 'error', quantity: 1 })
    expect(view.keys).toEqual([
      {
        key_id: expect.any(String) as unknown,
        public_key: key,
        outcomes: [
          { outcome: 'accepted', quantity: 2 },
          { outcome: 'invalid', quantity: 1 },
          { outcome: 'duplicate', quantity: 1 },
        ],
      },
    ])

    expect((await read('1h')).points.map(({ t: at }) => at)).toEqual([
      '2026-11-20T13:00:00.000Z',
      '2026-11-20T14:00:00.000Z',
    ])
    expect((await read('7d')).points).toHaveLength(168)
    const month = await read('30d')
    expect(month.points).toHaveLength(120)
    expect(month.points.at(-1)).toMatchObject({
      t: '2026-11-20T12:00:00.000Z',
      outcomes: [{ outcome: 'accepted', quantity: 2 }, {}, {}, {}],
    })
    // Counts of a deleted key stay.
    await app.db.query('delete from project_keys where project_id = $1', [project.id])
    expect((await read()).keys).toMatchObject([{ public_key: null }])
  })

  test('counts every item in the hour of its receipt, whatever time it carries; points, totals and keys agree', async () => {
    clock.set('2026-11-24T12:00:00Z')
    const { owner, project, read, post } = await aWorld()
    await owner.patch(`/api/projects/${project.id}/settings`, { inbound_filters: { messages: ['*ResizeObserver*'] } })
    const at = (days: number): number => Date.parse('2026-11-24T12:00:00Z') / 1000 + days * 86_400
    const session = (days: number): string => {
      const started = new Date(at(days) * 1000).toISOString()
      const sid = randomUUID()
      return `{}\n{"type":"session"}\n${JSON.stringify({ sid, init: true, status: 'ok', started, attrs: { release: 'a@1' } })}`
    }
    for (const days of [0, -0.5, -2, -20, -400, 0.5, 400]) {
      expect(await post(envelopeOf(anEvent({ timestamp: at(days) })))).toBe(200)
      expect(await post(session(days))).toBe(200)
    }
    let noises = 0
    await waitFor('the filter to apply', async () => {
      noises++
      const noise = anEvent({ timestamp: at(-3), message: 'ResizeObserver loop', exception: null })
      expect(await post(envelopeOf(noise))).toBe(200)
      await t.service.drain()
      return (await read()).totals.some(({ outcome }) => outcome === 'filtered')
    })

    for (const range of ['1h', '24h', '7d', '30d']) {
      const view = await read(range)
      const filled = view.points.filter(({ outcomes }) => outcomes.length > 0)
      expect(
        filled.map(({ t: at }) => at),
        range,
      ).toEqual(['2026-11-24T12:00:00.000Z'])
      const sums = (rows: readonly { outcome: string; quantity: number }[]) => {
        const by = new Map<string, number>()
        for (const { outcome, quantity } of rows) by.set(outcome, (by.get(outcome) ?? 0) + quantity)
        return Object.fromEntries(by)
      }
      const inPoints = sums(filled.flatMap(({ outcomes }) => outcomes))
      expect(inPoints, range).toEqual(sums(view.totals))
      expect(inPoints, range).toEqual(sums(view.keys.flatMap(({ outcomes }) => outcomes)))
    }
    const { totals } = await read()
    const errors = totals.filter(({ category }) => category === 'error')
    expect(errors.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(7 + noises)
    expect(totals).toContainEqual({ outcome: 'discarded', reason: 'too_old', category: 'session', quantity: 2 })
    expect(totals).toContainEqual({ outcome: 'discarded', reason: 'in_future', category: 'session', quantity: 2 })
    // Counts of another process, whose clock is ahead, belong to the next hours.
    await app.db.query(
      `update outcomes_hourly set hour = hour + interval '3 hours' where project_id = $1 and outcome = 'discarded'`,
      [project.id],
    )
    expect((await read()).totals.map(({ outcome }) => outcome)).not.toContain('discarded')
  })

  test('shows refusals and flood sampling within seconds, and the limits of the project', async () => {
    clock.set('2026-11-21T10:00:00Z')
    const { read, post, owner, project } = await aWorld()
    const patched = await owner.patch(`/api/projects/${project.id}/settings`, {
      rate_limit_per_minute: 3,
      spike_protection: true,
    })
    expect(patched.status, patched.text).toBe(200)
    await waitFor('the limit to apply', async () => {
      await post(envelopeOf(anEvent()))
      return (await post(envelopeOf(anEvent()))) === 429
    })
    expect(await post(envelopeOf(anEvent({ message: 'new', exception: null })))).toBe(200)
    const view = await waitFor(
      'the counts',
      async () => {
        const now = await read('1h')
        // Both are written in one transaction but read by two queries.
        return now.storms.length > 0 && now.totals.length > 0 ? now : null
      },
      10_000,
    )
    expect(view.totals).toContainEqual({
      outcome: 'rate_limited',
      reason: 'storm',
      category: 'error',
      quantity: expect.any(Number) as unknown,
    })
    expect(view.storms).toMatchObject([{ t: '2026-11-21T10:00:00.000Z', let_through: 1, fingerprints: 1 }])
    expect(view.limits).toMatchObject({ per_minute: 3, burst_10s: 1, is_default: false })
  })

  test('refuses unknown ranges, and projects of other organisations', async () => {
    const { owner, project } = await aWorld()
    const answer = await owner.get(`/api/projects/${project.id}/intake?range=1y`)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('range must be one of')
    const stranger = await aPerson(app)
    const refused = await fetch(`${t.url}/api/projects/${project.id}/intake`, { headers: { cookie: stranger.cookie } })
    expect(refused.status).toBe(404)
  })
})

describe('the quota', () => {
  test('a quota applies immediately, and can be removed', async () => {
    clock.set('2026-11-22T10:00:00Z')
    const { owner, read, post } = await aWorld()
    const set = await owner.patch('/api/organization/quota', { events_per_day: 2 })
    expect(set.body).toEqual({ events_per_day: 2, used_today: 0, resets_at: '2026-11-23T00:00:00.000Z' })
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push(await post(envelopeOf(anEvent())))
    expect(statuses).toEqual([200, 200, 429, 429])
    await waitFor('the count', async () => (await read()).quota.used_today === 2)
    for (const events_per_day of [-1, 1.5, '5', 1e12, undefined])
      expect((await owner.patch('/api/organization/quota', { events_per_day })).status).toBe(400)
    await owner.patch('/api/organization/quota', { events_per_day: null })
    await waitFor('the change to apply', async () => (await post(envelopeOf(anEvent()))) === 200)
  })
})

describe('losses', () => {
  test('are summed, with a maximum of reasons per hour', async () => {
    const { project } = await aWorld()
    const hour = new Date('2026-11-20T12:00:00Z')
    const loss = (reason: string, quantity = 1): LossRow => ({
      projectId: project.id,
      hour,
      kind: 'discarded',
      category: 'error',
      reason,
      quantity,
    })
    const write = (rows: LossRow[]) => app.tx((tx) => addLosses(tx, rows))
    await write([loss('sample_rate', 5), loss('before_send'), loss('sample_rate', 5)])
    await write([loss('sample_rate')])
    for (let batch = 0; batch < 3; batch++)
      await write(Array.from({ length: 100 }, (_, i) => loss(`made_up_${batch}_${i}`)))
    await write([loss('sample_rate')])
    const { rows } = await app.db.query<{ reason: string; quantity: number }>(
      'select reason, quantity from client_losses_hourly where project_id = $1',
      [project.id],
    )
    const sums = new Map(rows.map((row) => [row.reason, row.quantity]))
    expect(sums.get('sample_rate')).toBe(12)
    expect(sums.size).toBe(201)
    expect(sums.get('other')).toBe(102)
    expect([...sums.values()].reduce((a, b) => a + b)).toBe(313)
  })
})
