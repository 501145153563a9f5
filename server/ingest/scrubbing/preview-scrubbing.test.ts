import { beforeAll, describe, expect, test } from 'vitest'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, newEventId, sendEvent } from '#test/kit/sdk.ts'
import { watchLoop } from '#test/kit/loop-watch.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Client } from '#test/kit/client.ts'
import { differences } from './differences.ts'
import type { z } from 'zod'
import type { Intake as IntakeShape } from '../outcomes/intake.api.ts'
import type { ScrubbingPreview } from './scrubbing.api.ts'

type Intake = z.output<typeof IntakeShape>
const t = await testServer({ realTime: true })
const EVENT_ID = newEventId()
let owner: Client
let project: TestProject

const preview = (body: Record<string, unknown>, target = project) =>
  owner.post(`/api/projects/${target.id}/scrubbing/preview`, body)
const rule = (path: string, more: Record<string, unknown> = {}) => ({
  path,
  pattern: 'anything',
  action: 'replace',
  ...more,
})

beforeAll(async () => {
  owner = await aFounder(t.url)
  project = await aProject(owner)
  await t.event({
    project,
    event_id: EVENT_ID,
    user: { id: 'u-4711', email: 'ada@example.com', ip_address: '203.0.113.7' },
    message: 'mail to ada@example.com failed',
    extra: { badge: 'B-77', order: { total: 12 } },
  })
})

describe('the preview', () => {
  test('shows what would change, with its middle hidden, on the newest or the requested event', async () => {
    const scrub_rules = [
      rule('**', { pattern: 'email' }),
      rule('user.id', { action: 'hash' }),
      rule('extra.order', { action: 'remove' }),
      rule('extra.badge', { pattern: 'custom', regex: 'B-\\d+', action: 'replace' }),
    ]
    for (const event_id of [undefined, EVENT_ID, EVENT_ID.toUpperCase()]) {
      const answer = await preview({ scrub_rules, event_id })
      expect(answer.status).toBe(200)
      const said = answer.as<ScrubbingPreview>()
      expect(said).toMatchObject({ event_id: EVENT_ID, total_changes: 5, title: 'PaymentError: card declined' })
      expect(said.changes).toEqual(
        expect.arrayContaining([
          { path: 'user.id', before: '••••••', after: expect.stringMatching(/^hash:[0-9a-f]{24}$/) as unknown },
          { path: 'user.email', before: 'ad••••••••om', after: '[e-mail]' },
          { path: 'message', before: 'mail to ad••••••••om failed', after: 'mail to [e-mail] failed' },
          { path: 'extra.badge', before: '••••', after: '[Filtered]' },
          { path: 'extra.order', before: '{"••••••••2}', after: null },
        ]),
      )
      expect(answer.text).not.toContain('ada@example.com')
    }
  })

  test('covers addresses, also of the connection, and changes nothing', async () => {
    const said = (await preview({ scrub_ip_addresses: true })).as<ScrubbingPreview>()
    expect(said.changes.map(({ path, after }) => [path, after])).toEqual([
      ['user.ip_address', null],
      ['connection address', null],
    ])
    expect((await preview({})).as<ScrubbingPreview>()).toMatchObject({ changes: [], total_changes: 0 })
    const again = (await preview({ scrub_ip_addresses: true })).as<ScrubbingPreview>()
    expect(again.total_changes).toBe(2)
  })

  test('names invalid rules, and returns 404 for unknown events', async () => {
    const wrong = await preview({ scrub_rules: [rule('user', { pattern: 'custom', regex: '(' })] })
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('regex')])
    expect((await preview({ event_id: newEventId() })).status).toBe(404)
    expect((await preview({ event_id: 'x' })).status).toBe(400)
    const stranger = await aFounder(t.url)
    const theirs = await aProject(stranger)
    expect((await preview({ event_id: EVENT_ID }, theirs)).status).toBe(404)
  })

  test('is empty without events', async () => {
    const empty = await aProject(owner)
    expect((await preview({ scrub_rules: [rule('user')] }, empty)).as<ScrubbingPreview>()).toEqual({
      event_id: null,
      issue_id: null,
      title: null,
      changes: [],
      total_changes: 0,
    })
  })
})

describe('saved rules', () => {
  test('are applied before anything is stored, in the body, the columns and the titles', async () => {
    const other = await aProject(owner)
    const scrub_rules = [
      rule('user.email', { action: 'hash' }),
      rule('user.ip_address', { action: 'remove' }),
      rule('**', { pattern: 'custom', regex: 'PIN-\\d+' }),
    ]
    const saved = await owner.patch(`/api/projects/${other.id}/settings`, { scrub_rules })
    expect(saved.status).toBe(200)
    expect(saved.as<{ scrub_rules: unknown[] }>().scrub_rules).toMatchObject(scrub_rules)
    for (let n = 0; n < 2; n++) {
      await sendEvent(
        t.url,
        other.dsn,
        anEvent({ message: 'PIN-1234 refused', exception: undefined, user: { email: 'ada@example.com' } }),
      )
    }
    await t.service.drain()
    const { rows } = await t.app.db.query<{
      client_ip: string | null
      user_hash: number
      title: string
      body: Buffer
    }>(
      'select e.client_ip, e.user_hash, e.body, i.title from events e join issues i on i.id = e.issue_id where e.project_id = $1',
      [other.id],
    )
    expect(rows.map(({ client_ip, title }) => [client_ip, title])).toEqual([
      [null, '[Filtered] refused'],
      [null, '[Filtered] refused'],
    ])
    // The same user is still one user.
    expect(rows[0]?.user_hash).toBe(rows[1]?.user_hash)
    const issues = (await owner.get(`/api/projects/${other.id}/issues`)).as<{ items: { id: string }[] }>()
    const shown = await owner.get(`/api/issues/${issues.items[0]?.id}`)
    expect(shown.text).toMatch(/hash:[0-9a-f]{24}/)
    expect(shown.text).not.toMatch(/PIN-1234|ada@example|127\.0\.0\.1/)
  })

  test('the key of hashes is created once and never replaced', async () => {
    const other = await aProject(owner)
    const save = (rules: unknown[]) => owner.patch(`/api/projects/${other.id}/settings`, { scrub_rules: rules })
    const key = async () =>
      (
        await t.app.db.query<{ k: string | null }>('select scrub_key_sealed as k from projects where id = $1', [
          other.id,
        ])
      ).rows[0]?.k
    await save([rule('user.id')])
    expect(await key()).toBeNull()
    await save([rule('user.id', { action: 'hash' })])
    const first = await key()
    expect(first).toMatch(/^v1\./)
    await save([])
    await save([rule('user', { action: 'hash' })])
    expect(await key()).toBe(first)
  })
})

test('differences of two values never show a whole value', () => {
  const { list, total } = differences(
    { same: 1, gone: 'secret value', list: ['a', 'the secret'], n: 7, deep: { x: [1, 2] }, short: 'ab' },
    { same: 1, list: ['a', 'the [e-mail]'], n: null, deep: { x: [1] }, short: 'ac' },
  )
  expect(total).toBe(5)
  expect(list).toEqual([
    { path: 'gone', before: 'se••••••••ue', after: null },
    { path: 'list[1]', before: 'the ••••••', after: 'the [e-mail]' },
    { path: 'n', before: '•', after: null },
    { path: 'deep.x', before: '•••••', after: '[1]' },
    { path: 'short', before: '••', after: 'ac' },
  ])
})

test('an invalid expression is refused when saved, and the whole change with it', async () => {
  const other = await aProject(owner)
  const path = `/api/projects/${other.id}/settings`
  const scrub_rules = [rule('a'), rule('b', { pattern: 'custom', regex: '(?=x)' })]
  const answer = await owner.patch(path, { retention_days: 12, scrub_rules })
  expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(/scrub_rules\.1\.regex/)])
  expect((await owner.get(path)).body).toMatchObject({ retention_days: 90, scrub_rules: [] })
})

describe('an expression that costs too much', () => {
  const custom = (regex: string, path = '**') => rule(path, { pattern: 'custom', regex })
  const ISSUE = '(?i)(\\pL{1,500}){1,2}!'

  test.each([
    [ISSUE, /states, at most 1000.*Replace \{1,500\}/],
    ['\\pL{900}[0-9]', /µs per character of "a+…".*Replace \{900\}/],
    ['x[^y]*y|[^é]*é|x', /µs per character of/],
  ])('%s is refused when saved and when previewed, with what to simplify', async (regex, reason) => {
    const scrub_rules = [custom('ORD-\\d+'), custom(regex)]
    for (const answer of [
      await owner.patch(`/api/projects/${project.id}/settings`, { scrub_rules }),
      await preview({ scrub_rules }),
    ]) {
      expect(answer.status).toBe(400)
      expect(answer.as<{ error: string }>().error).toMatch(/^scrub_rules\.1\.regex cannot be used/)
      expect(answer.as<{ error: string }>().error).toMatch(reason)
    }
  })

  test('all expressions of a project together are limited; the largest is named', async () => {
    const scrub_rules = [
      custom('ORD-\\d+'),
      ...[20, 22, 21, 19].map((n) => custom(`(?:[a-z]{1,20} ){1,${n}}!`)),
      custom('x'),
    ]
    const answer = await preview({ scrub_rules })
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringMatching(/33\d\d states together.*scrub_rules\.2\.regex/),
    ])
    expect((await preview({ scrub_rules: scrub_rules.slice(0, 3) })).status).toBe(200)
  })

  test('does not hold up the main thread, whatever the number of rules', async () => {
    const loop = watchLoop()
    const scrub_rules = Array.from({ length: 50 }, (_, n) => custom(`ORD-${n}-[a-z]{1,20}@`))
    const answers = await Promise.all([
      preview({ scrub_rules }),
      preview({}),
      preview({ scrub_rules: [custom(ISSUE)] }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400])
    expect(loop.longestHoldMs()).toBeLessThan(200)
    loop.stop()
  })

  test('a saved one filters what it cannot search; the note names it; others are digested', async () => {
    const [theirs, mine] = [await aProject(owner), await aProject(await aFounder(t.url))]
    // As saved before expressions were limited.
    await t.app.db.query(`update projects set settings = settings || $2 where id = $1`, [
      theirs.id,
      JSON.stringify({ scrub_rules: [custom(ISSUE, 'extra.note'), custom('\\pL{900}[0-9]', 'message')] }),
    ])
    const long = 'a'.repeat(60_000)
    for (let n = 0; n < 5; n++)
      await sendEvent(
        t.url,
        theirs.dsn,
        anEvent({ message: long, exception: undefined, extra: { note: 'n', other: long } }),
      )
    await sendEvent(t.url, mine.dsn, anEvent())
    await t.service.drain()
    const bodies = await t.app.db.query<{ title: string; n: number }>(
      'select title, count(*)::int as n from events e join issues i on i.id = e.issue_id where e.project_id = any($1) group by title order by title',
      [[theirs.id, mine.id]],
    )
    expect(bodies.rows).toEqual([
      { title: 'PaymentError: card declined', n: 1 },
      { title: '[Filtered: too costly]', n: 5 },
    ])
    const said = await owner.get(`/api/projects/${theirs.id}/intake`)
    const { costly_rules: costly } = said.as<Intake>()
    expect(costly.map(({ path }) => path).sort()).toEqual(['extra.note', 'message'])
    // Once a payload is at its limit, the rule that used most is to blame for all of its texts.
    expect(costly.find(({ path }) => path === 'message')).toMatchObject({ regex: '\\pL{900}[0-9]', requests: 5 })
    expect(costly.reduce((sum, { texts }) => sum + texts, 0)).toBe(10)
    expect(said.as<Intake>().totals).toEqual([{ outcome: 'accepted', reason: '', category: 'error', quantity: 5 }])
    // It stays in the list while others change.
    const settings = `/api/projects/${theirs.id}/settings`
    const { scrub_rules } = (await owner.get(settings)).as<{ scrub_rules: unknown[] }>()
    expect((await owner.patch(settings, { scrub_rules: [...scrub_rules, custom('ORD-\\d+')] })).status).toBe(200)
  })
})
