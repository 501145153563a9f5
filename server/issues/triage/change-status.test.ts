import { beforeAll, describe, expect, test } from 'vitest'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, anException, newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Client } from '#test/kit/client.ts'
import type { Issue } from '../rules/issue.api.ts'
import type { Activity } from './issues.api.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { sweepIssues } from '../recording/sweep.ts'

/** Resolving and ignoring issues through the API, on a real database. */

const server = await testServer({ realTime: true })

let ada: Client
let project: TestProject
let functions = 0

beforeAll(async () => {
  ada = await aFounder(server.url)
  project = await aProject(ada)
})

const send = async (events: Record<string, unknown>[]): Promise<void> => {
  await server.events(project, events)
}

type Detail = Issue & { activity: Activity[] }
const read = async (id: string): Promise<Detail> => (await ada.get(`/api/issues/${id}`)).as<Detail>()

/** A new issue with one event of shop@1.0.0. */
async function anIssue(fields: Record<string, unknown> = {}): Promise<{ id: string; name: string }> {
  const name = `fn${++functions}`
  await send([anEvent({ error: name, timestamp: Date.now() / 1000 - 10, ...fields })])
  const items = await server.issues(ada, `projectId=${project.id}&limit=100`)
  const issue = items.find((one) => one.type === `${name}Error`)
  if (issue === undefined) throw new Error('no issue')
  return { id: issue.id, name }
}

const patch = (id: string, body: unknown, who = ada) => who.request('PATCH', `/api/issues/${id}`, { body })

describe('PATCH is refused with 400, and the error names the field, for', () => {
  let id = ''
  beforeAll(async () => {
    id = (await anIssue()).id
  })
  const resolve = (resolution: unknown) => ({ status: 'resolved', resolution })
  const ignore = (until: unknown) => ({ status: 'ignored', ignore_until: until })
  test.each([
    [{ status: 'fixed' }, 'status'],
    [{ status: '' }, 'status'],
    [{ status: null }, 'status'],
    [{ status: 'unresolved', resolution: { now: true } }, 'resolution'],
    [{ status: 'resolved', ignore_until: { count: 1 } }, 'ignore_until'],
    [{ resolution: { now: true } }, 'resolution'],
    [resolve({}), 'resolution'],
    [resolve('now'), 'resolution'],
    [resolve({ now: false }), 'resolution'],
    [resolve({ now: true, in_next_release: true }), 'resolution'],
    [resolve({ in_branch: 'main' }), 'resolution'],
    [resolve({ in_release: '' }), 'in_release'],
    [resolve({ in_release: '   ' }), 'in_release'],
    [resolve({ in_release: 'x'.repeat(201) }), 'in_release'],
    [resolve({ in_release: '1'.repeat(300) }), 'in_release'],
    [resolve({ in_release: 'latest' }), 'in_release'],
    [resolve({ in_release: 'LATEST' }), 'in_release'],
    [resolve({ in_release: '.' }), 'in_release'],
    [resolve({ in_release: '..' }), 'in_release'],
    [resolve({ in_release: 'a\u0007b' }), 'in_release'],
    [resolve({ in_release: 'a\tb' }), 'in_release'],
    [resolve({ in_release: 'a\nb' }), 'in_release'],
    [resolve({ in_release: 'a\u0000b' }), ''],
    [resolve({ in_release: '\ud800' }), ''],
    [resolve({ in_release: 7 }), 'in_release'],
    [resolve({ in_release: [] }), 'in_release'],
    [resolve({ in_release: ['1.0', ''] }), 'in_release'],
    [resolve({ in_release: Array.from({ length: 21 }, (_, i) => `1.${i}`) }), 'in_release'],
    [resolve({ in_commit: 'abc' }), 'in_commit'],
    [resolve({ in_commit: 'z'.repeat(40) }), 'in_commit'],
    [resolve({ in_commit: `${'a'.repeat(40)}%` }), 'in_commit'],
    [ignore({}), 'ignore_until'],
    [ignore({ window: 60 }), 'ignore_until'],
    [ignore({ time: 'tomorrow' }), 'ignore_until.time'],
    [ignore({ time: '2020-01-01T00:00:00Z' }), 'ignore_until.time'],
    [ignore({ time: 1e12 }), 'ignore_until.time'],
    [ignore({ time: '9999-12-31T23:59:59-12:00' }), 'ignore_until.time'],
    [ignore({ count: 0 }), 'ignore_until.count'],
    [ignore({ count: -1 }), 'ignore_until.count'],
    [ignore({ count: 1.5 }), 'ignore_until.count'],
    [ignore({ count: '10' }), 'ignore_until.count'],
    [ignore({ count: 1e15 }), 'ignore_until.count'],
    [ignore({ users: 0 }), 'ignore_until.users'],
    [ignore({ count: 1, window: 0 }), 'ignore_until.window'],
    [ignore({ count: 1, window: 10_081 }), 'ignore_until.window'],
    [ignore({ escalating: false }), 'ignore_until.escalating'],
    [ignore({ forever: true }), 'ignore_until'],
    [ignore('forever'), 'ignore_until'],
  ])('%j', async (body, word) => {
    const answer = await patch(id, body)
    expect(answer.status, answer.text).toBe(400)
    expect(answer.as<{ error: string }>().error).toContain(word)
    expect((await read(id)).status).toBe('unresolved')
  })
})

describe('resolving', () => {
  test.each(['1.0', 'v2', '2024.11.3-beta.2+77', '🚀 launch', 'com.acme@1.2.3+45', 'x'.repeat(200)])(
    'in the unknown release %s creates it as planned',
    async (version) => {
      const { id } = await anIssue()
      const answer = await patch(id, { status: 'resolved', resolution: { in_release: ` ${version} ` } })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.body).toMatchObject({
        status: 'resolved',
        resolved_in_release: version,
        resolution: { in_release: version },
        status_reason: expect.stringContaining(` resolved this issue in release ${version} on `) as string,
      })
      const { rows } = await server.app.db.query('select state from releases where project_id = $1 and version = $2', [
        project.id,
        version,
      ])
      expect(rows).toEqual([{ state: 'planned' }])
    },
  )

  test('a refused request creates no release', async () => {
    const { id } = await anIssue()
    const body = { status: 'resolved', resolution: { in_release: 'never made' }, assignee_id: newId() }
    expect((await patch(id, body)).status).toBe(400)
    const { rows } = await server.app.db.query(`select from releases where version = 'never made'`)
    expect(rows).toEqual([])
  })

  test('the sentence of a change depends on the status before it', async () => {
    const { id } = await anIssue()
    const sentences: string[] = []
    for (const status of ['regressed', 'unresolved', 'resolved', 'unresolved', 'escalated', 'unresolved']) {
      await patch(id, { status })
      sentences.push(
        (await read(id)).activity[0]?.sentence.replace(/^\S+ (?:\S+ )??(?=marked|reopened|resolved|escalated)/, '') ??
          '',
      )
    }
    expect(sentences).toEqual([
      'marked this issue as regressed.',
      'marked this issue as unresolved.',
      'resolved this issue.',
      'reopened this issue.',
      'escalated this issue.',
      'marked this issue as unresolved.',
    ])
  })

  test('a repeated request changes nothing; another resolution or condition is a change', async () => {
    const { id } = await anIssue()
    const activity = async () => (await read(id)).activity.filter((one) => one.kind === 'status_changed').length
    const steps: [unknown, number][] = [
      [{ status: 'resolved', resolution: { in_release: '2.0' } }, 1],
      [{ status: 'resolved', resolution: { in_release: '2.0' } }, 1],
      [{ status: 'resolved' }, 1],
      [{ status: 'resolved', resolution: { in_release: ['2.0', '3.0'] } }, 2],
      [{ status: 'resolved', resolution: { in_commit: 'ABCDEF1234567' } }, 3],
      [{ status: 'resolved', resolution: { in_commit: 'abcdef1234567' } }, 3],
      [{ status: 'resolved', resolution: { now: true } }, 4],
      [{ status: 'ignored', ignore_until: { count: 10, window: 60 } }, 5],
      [{ status: 'ignored', ignore_until: { window: 60, count: 10 } }, 5],
      [{ status: 'ignored' }, 5],
      [{ status: 'ignored', ignore_until: null }, 6],
      [{ status: 'unresolved' }, 7],
    ]
    for (const [body, entries] of steps) {
      const answer = await patch(id, body)
      expect(answer.status, answer.text).toBe(200)
      expect(await activity(), JSON.stringify(body)).toBe(entries)
    }
    expect((await read(id)).activity[1]?.sentence).toMatch(/ ignored this issue\.$/)
  })

  test('in a release: events of older releases and late events leave it resolved, an event of the fixed release makes it regress, with the reason', async () => {
    const { id, name } = await anIssue()
    await patch(id, { status: 'resolved', resolution: { in_release: 'shop@2.3.1' } })
    const now = Date.now() / 1000 + 1
    await send([
      anEvent({ error: name, release: 'shop@2.3.0', timestamp: now }),
      anEvent({ error: name, release: 'shop@2.4.0', timestamp: now - 3600 }),
    ])
    const calm = await read(id)
    expect(calm).toMatchObject({ status: 'resolved', event_count: 3 })
    expect(calm.activity[0]).toMatchObject({ kind: 'late_events', data: { before: 1, unfixed: 1 }, actor: null })
    const back = newEventId()
    await send([
      anEvent({ error: name, release: 'shop@2.4.0', timestamp: now + 5 }),
      anEvent({ error: name, release: 'shop@2.3.1', timestamp: now + 2, event_id: back }),
      anEvent({ error: name, release: 'shop@2.2.0', timestamp: now + 9 }),
    ])
    expect(await read(id)).toMatchObject({
      status: 'regressed',
      status_reason: `Regressed: event ${back.slice(0, 8)} from release shop@2.3.1, fixed in shop@2.3.1.`,
      resolution: null,
      activity: [
        { kind: 'status_changed', data: { fixed_in: ['shop@2.3.1'], release: 'shop@2.3.1', event_id: back } },
        { kind: 'late_events' },
        { kind: 'status_changed' },
        { kind: 'created' },
      ],
    })
  })

  test('in the next release: events of releases known at that time leave it resolved, an event of a newer release makes it regress', async () => {
    const { id, name } = await anIssue({ release: 'next@1.0.0' })
    const made = await ada.post('/api/releases', { projectId: project.id, version: 'next@9.1.0' })
    expect(made.status, made.text).toBe(201)
    const planned = await patch((await anIssue()).id, { status: 'resolved', resolution: { in_release: 'next@99.0.0' } })
    expect(planned.status).toBe(200)
    expect((await patch(id, { status: 'resolved', resolution: { in_next_release: true } })).body).toMatchObject({
      resolution: { in_next_release: true },
      status_reason: expect.stringContaining('in the next release after next@9.1.0') as string,
    })
    const now = Date.now() / 1000 + 1
    await send(
      ['next@1.0.0', 'next@9.1.0', 'next@2.0.0'].map((release) => anEvent({ error: name, release, timestamp: now })),
    )
    expect((await read(id)).status).toBe('resolved')
    await send([anEvent({ error: name, release: 'next@9.2.0', timestamp: now })])
    expect(await read(id)).toMatchObject({
      status: 'regressed',
      status_reason: expect.stringMatching(
        /from release next@9\.2\.0, fixed in the release after next@9\.1\.0\.$/,
      ) as string,
    })
  })

  test('in a commit: the first release with that commit has the fix', async () => {
    const { id, name } = await anIssue()
    const sha = 'feedc0de'.repeat(5)
    await patch(id, { status: 'resolved', resolution: { in_commit: sha.slice(0, 10).toUpperCase() } })
    const now = Date.now() / 1000 + 1
    await send([anEvent({ error: name, release: 'shop@50.0.0', timestamp: now })])
    expect((await read(id)).status).toBe('resolved')
    const made = await ada.post('/api/releases', {
      projectId: project.id,
      version: 'shop@51.0.0',
      commits: [{ id: sha }],
    })
    expect(made.status, made.text).toBe(201)
    await sweepIssues(server.app)
    expect(await read(id)).toMatchObject({ status: 'resolved', resolved_in_release: 'shop@51.0.0' })
    await send([anEvent({ error: name, release: 'shop@50.1.0', timestamp: now })])
    expect((await read(id)).status).toBe('resolved')
    await send([anEvent({ error: name, release: 'shop@51.0.0', timestamp: now })])
    expect((await read(id)).status).toBe('regressed')
    // The release of the commit is known now.
    expect((await patch(id, { status: 'resolved', resolution: { in_commit: sha } })).body).toMatchObject({
      resolution: { in_release: 'shop@51.0.0' },
      status_reason: expect.stringContaining('in commit feedc0defeed, in release shop@51.0.0 on') as string,
    })
  })

  test('of concurrent changes the last one wins, and the activity lists all in their order', async () => {
    const { id } = await anIssue()
    const bodies = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0
        ? { status: 'resolved', resolution: { in_release: `9.${index}` } }
        : { status: 'ignored', ignore_until: { count: index } },
    )
    const answers = await Promise.all(bodies.map((body) => patch(id, body)))
    expect(answers.map((answer) => answer.status)).toEqual(bodies.map(() => 200))
    const { status, status_reason, activity } = await read(id)
    const changes = activity.filter((one) => one.kind === 'status_changed')
    expect(changes).toHaveLength(20)
    expect(changes[0]?.data['to']).toBe(status)
    expect(status_reason).toContain(changes[0]?.sentence.replace(/\.$/, '') ?? 'nothing')
    // Each starts with the status that the one before set.
    for (const [index, change] of changes.entries())
      expect(change.data['from']).toBe(changes[index + 1]?.data['to'] ?? 'unresolved')
  })
})

describe('ignoring', () => {
  test('until a time: the reason separates both times; the error for a window without a number names the field once', async () => {
    const { id } = await anIssue()
    const time = '2099-12-31T23:59:00+02:00'
    expect((await patch(id, { status: 'ignored', ignore_until: { time } })).body).toMatchObject({
      ignore_until: { time: '2099-12-31T21:59:00.000Z' },
      status_reason: expect.stringContaining('until 31 Dec 2099 21:59 UTC, on ') as string,
    })
    expect((await patch(id, { status: 'ignored', ignore_until: { window: 5, time } })).body).toEqual({
      error: 'ignore_until.window needs count or users.',
    })
  })

  test('until more events ends when they arrive', async () => {
    const { id, name } = await anIssue()
    expect((await patch(id, { status: 'ignored', ignore_until: { count: 2 } })).body).toMatchObject({
      ignore_until: { count: 2 },
      status_reason: expect.stringContaining('ignored this issue until 2 more events on') as string,
    })
    const now = Date.now() / 1000 + 1
    await send([anEvent({ error: name, timestamp: now }), anEvent({ error: name, timestamp: now - 600 })])
    expect((await read(id)).status).toBe('ignored')
    await send([anEvent({ error: name, timestamp: now })])
    expect(await read(id)).toMatchObject({ status: 'unresolved', ignore_until: null })
  })
})

describe('severity', () => {
  const crash = (name: string, user: string, at = Date.now() / 1000) =>
    anEvent({
      error: name,
      timestamp: at,
      user: { id: user },
      exception: {
        values: [
          anException({
            type: `${name}Error`,
            mechanism: { type: 'onerror', handled: false },
            stacktrace: { frames: [{ filename: `src/${name}.ts`, function: name, lineno: 1, in_app: true }] },
          }),
        ],
      },
    })

  test('25 users on one day make a crash critical, with an activity entry; a pinned severity stays until it is unpinned', async () => {
    const name = `fn${++functions}`
    await send(Array.from({ length: 24 }, (_, user) => crash(name, `u${user}`)))
    const items = await server.issues(ada, `projectId=${project.id}`)
    const issue = items.find((one) => one.type === `${name}Error`)
    expect(issue).toMatchObject({ severity: 'high', user_count: 24 })
    const id = issue?.id ?? ''
    await send([crash(name, 'u24'), crash(name, 'u24')])
    expect(await read(id)).toMatchObject({
      severity: 'critical',
      user_count: 25,
      activity: [{ kind: 'severity_changed', sentence: expect.stringContaining('25 users') as string }, {}],
    })
    await patch(id, { severity: 'low' })
    await send([crash(name, 'u25')])
    expect(await read(id)).toMatchObject({ severity: 'low', severity_pinned: true })
    expect((await patch(id, { severity: null })).body).toMatchObject({ severity: 'critical', severity_pinned: false })
  })

  test('a more severe event raises it, and the activity names the event', async () => {
    const { id, name } = await anIssue()
    const event = crash(name, 'u0')
    await send([event])
    expect(await read(id)).toMatchObject({
      severity: 'high',
      activity: [
        {
          kind: 'severity_changed',
          sentence: `Severity rose to high: event ${String(event['event_id']).slice(0, 8)} is a crash.`,
          data: { from: 'medium', to: 'high', event_id: event['event_id'] },
        },
        { kind: 'created' },
      ],
    })
  })

  test('is one step higher while the issue is escalated', async () => {
    const { id } = await anIssue()
    expect((await read(id)).severity).toBe('medium')
    expect((await patch(id, { status: 'escalated' })).body).toMatchObject({ severity: 'high' })
    expect((await patch(id, { status: 'unresolved' })).body).toMatchObject({ severity: 'medium' })
  })
})
