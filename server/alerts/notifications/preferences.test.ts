import { describe, expect, test } from 'vitest'
import { aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { client } from '#test/kit/client.ts'
import { insertProject } from '#test/kit/route-examples.ts'
import { testServer } from '#test/kit/test-server.ts'
import { NotificationPreferences } from './preferences.api.ts'
import { DEFAULTS, wantsPush } from './preferences.ts'
import { readMemberPreferences } from './read-preferences.ts'

const t = await testServer()
const { app } = t

const PATH = '/api/me/notifications'
const as = (person: Person) => {
  const browser = client(t.url)
  for (const pair of person.cookie.split('; ')) browser.cookies.set(...(pair.split('=') as [string, string]))
  return browser
}
const read = async (person: Person) => NotificationPreferences.strict().parse((await as(person).get(PATH)).body)

const BEFORE = {
  channels: { email: true, push: true },
  push_min_severity: 'low',
  weekly_digest: { enabled: false, time_zone: 'UTC' },
  projects: [],
  quiet_hours: {
    enabled: false,
    start: '22:00',
    end: '07:00',
    time_zone: 'UTC',
    days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  },
}

test('absent fields stay as they are; each organisation has its own', async () => {
  const viewer = await aPerson(app, { role: 'viewer' })
  const elsewhere = await aMembership(app, viewer)
  expect(await read(viewer)).toEqual(BEFORE)
  const changed = await as(viewer).patch(PATH, {
    channels: { email: false },
    quiet_hours: { enabled: true, time_zone: 'Asia/Kathmandu', days: ['sun', 'fri', 'sun'] },
  })
  expect(changed.status).toBe(200)
  const after = {
    channels: { email: false, push: true },
    push_min_severity: 'low',
    weekly_digest: BEFORE.weekly_digest,
    projects: [],
    quiet_hours: { ...BEFORE.quiet_hours, enabled: true, time_zone: 'Asia/Kathmandu', days: ['fri', 'sun'] },
  }
  expect(changed.body).toEqual(after)
  await as(viewer).patch(PATH, { push_min_severity: 'high', quiet_hours: { start: '21:30' } })
  expect(await read(viewer)).toEqual({
    ...after,
    push_min_severity: 'high',
    quiet_hours: { ...after.quiet_hours, start: '21:30' },
  })
  expect(await read(elsewhere)).toEqual(BEFORE)
})

test('channels are turned off for a project, by each member of its organisation for themselves', async () => {
  const owner = await aPerson(app)
  const member = await aPerson(app, { role: 'viewer', org: { id: owner.actor.orgId, slug: owner.orgSlug } })
  const projectId = await insertProject(app, owner)
  const path = `${PATH}/projects/${projectId}`
  expect((await as(member).patch(path, { push: false })).body).toMatchObject({
    projects: [{ project_id: projectId, channels: { email: true, push: false } }],
  })
  await Promise.all([as(member).patch(path, { email: false }), as(member).patch(path, { push: true })])
  expect((await read(member)).projects).toEqual([{ project_id: projectId, channels: { email: false, push: true } }])
  expect((await read(owner)).projects).toEqual([])
  await as(member).patch(path, { email: true })
  expect((await read(member)).projects).toEqual([])
  const stranger = await aPerson(app)
  expect((await as(stranger).patch(path, { email: false })).status).toBe(404)
  for (const body of [{}, { email: 'no' }, { sms: true }]) expect((await as(member).patch(path, body)).status).toBe(400)
  for (const zone of ['', 'Europe/Nowhere', 'x'.repeat(5_000)])
    expect((await as(member).patch(PATH, { weekly_digest: { time_zone: zone } })).status).toBe(400)
})

test('two changes at a time lose none', async () => {
  const person = await aPerson(app)
  const answers = await Promise.all([
    as(person).patch(PATH, { channels: { email: false } }),
    as(person).patch(PATH, { channels: { push: false } }),
    as(person).patch(PATH, { push_min_severity: 'critical' }),
    as(person).patch(PATH, { quiet_hours: { end: '08:00' } }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(await read(person)).toMatchObject({
    channels: { email: false, push: false },
    push_min_severity: 'critical',
    quiet_hours: { end: '08:00' },
  })
})

describe('refuses', () => {
  test.each([
    [{}, 'at least one'],
    [{ channels: { sms: true } }, 'channels'],
    [{ channels: { push: 'yes' } }, 'channels.push'],
    [{ push_min_severity: 'urgent' }, 'push_min_severity'],
    [{ quiet_hours: { start: '24:00' } }, 'quiet_hours.start'],
    [{ quiet_hours: { end: '7:00' } }, 'quiet_hours.end'],
    [{ quiet_hours: { time_zone: '+05:30' } }, 'quiet_hours.time_zone'],
    [{ quiet_hours: { time_zone: 'Europe/Atlantis' } }, 'quiet_hours.time_zone'],
    [{ quiet_hours: { days: [] } }, 'quiet_hours.days'],
    [{ quiet_hours: { days: ['someday'] } }, 'quiet_hours.days'],
    [{ quiet_hours: { start: '07:00', enabled: true } }, 'never end'],
  ])('%j', async (body, named) => {
    const person = await aPerson(app)
    const { status, text } = await as(person).patch(PATH, body)
    expect([status, text]).toEqual([400, expect.stringContaining(named)])
    expect(await read(person)).toEqual(BEFORE)
  })
})

test('members without a choice have the defaults; severities from the lowest wanted one up', async () => {
  const person = await aPerson(app)
  const { userId, orgId } = person.actor
  expect([...(await readMemberPreferences(app.db, orgId, [userId]))]).toEqual([[userId, DEFAULTS]])
  expect([...(await readMemberPreferences(app.db, orgId, []))]).toEqual([])
  const high = { ...DEFAULTS, pushMinSeverity: 'high' as const }
  expect(['critical', 'high', 'medium', 'low'].map((one) => wantsPush(high, one as 'low'))).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(wantsPush({ ...DEFAULTS, push: false }, 'critical')).toBe(false)
})
