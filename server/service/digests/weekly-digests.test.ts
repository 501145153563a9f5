import { expect, test } from 'vitest'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { testServer } from '#test/kit/test-server.ts'
import { updatePreferences } from '../../alerts/notifications/update-preferences.ts'
import { updateProjectChannels } from '../../alerts/notifications/update-project-channels.ts'
import { unsubscribe } from '../../alerts/alert-mails/unsubscribe.ts'
import { aPerson } from '#test/kit/members.ts'
import { insertIssue } from '#test/kit/route-examples.ts'
import { digestMail, type ProjectWeek } from './digest-mail.ts'
import { sendDigests } from './weekly-digests-task.ts'

// The clock stands at Friday, 20 November 2026, 12:00 UTC.
const t = await testServer()
const { app, clock } = t
const { signal } = new AbortController()
const to = (at: string) => clock.advance(Date.parse(at) - clock.now().getTime())
const send = () => sendDigests(app, signal)

test('a digest is sent once, on Monday at 8 in the zone of the member who asked for it', async () => {
  const owner = await aPerson(app, { name: 'Ada' })
  const other = await aPerson(app)
  const issueId = await insertIssue(app, owner)
  const { project_id: projectId } = await app.db
    .selectFrom('issues')
    .select('project_id')
    .where('id', '=', issueId)
    .executeTakeFirstOrThrow()
  await updatePreferences(app, owner.actor, { weekly_digest: { enabled: true, time_zone: 'America/New_York' } })
  await updatePreferences(app, other.actor, { channels: { push: false } })

  // Days after the last Monday: it waits for the next one.
  expect(await send()).toBe(0)
  to('2026-11-23T12:59:59Z')
  expect(await send()).toBe(0)
  to('2026-11-23T13:00:00Z')
  // Two processes at once.
  expect((await Promise.all([send(), send()])).reduce((sum, sent) => sum + sent)).toBe(1)
  expect(await send()).toBe(0)
  const [mail, second] = await queuedMails(app, owner.email)
  expect(second).toBeUndefined()
  expect(mail).toMatchObject({
    type: 'digest.weekly',
    subject: expect.stringMatching(/^\[.+\] Your week: 1 new issue$/) as unknown,
    details: [['Shop', expect.stringMatching(/^1 new, 0 regressed, /) as unknown]],
  })
  expect(await queuedMails(app, other.email)).toEqual([])

  // A service that was down for more than a day leaves it out.
  to('2026-12-01T13:00:01Z')
  expect(await send()).toBe(0)

  // A muted project has no place in it.
  await updateProjectChannels(app, owner.actor, projectId, { email: false })
  to('2026-12-07T13:10:00Z')
  expect(await send()).toBe(1)
  expect((await queuedMails(app, owner.email))[1]).toMatchObject({ details: [] })

  // The link of the mail ends it, and restores it.
  const token = /#token=(.+)$/.exec(mail?.unsubscribe?.page ?? '')?.[1] ?? ''
  expect(await unsubscribe(app, { token, scope: 'rule' })).toEqual({ scope: 'rule', rule_name: null })
  to('2026-12-14T13:10:00Z')
  expect(await send()).toBe(0)
  await unsubscribe(app, { token, scope: 'none' })
  expect(await send()).toBe(1)
})

test('quiet hours hold it', async () => {
  const owner = await aPerson(app)
  await updatePreferences(app, owner.actor, {
    weekly_digest: { enabled: true },
    quiet_hours: { enabled: true, start: '07:00', end: '10:00', time_zone: 'UTC' },
  })
  to('2026-12-21T08:00:00Z')
  await send()
  // Deliveries are due by the clock of the database.
  const { rows } = await app.db.query<{ minutes: number }>(
    `select round(extract(epoch from d.due_at - now()) / 60)::int as minutes from outbox_deliveries d join outbox_messages m on m.id = d.message_id where m.user_id = $1`,
    [owner.actor.userId],
  )
  expect(rows).toEqual([{ minutes: 120 }])
})

const week = (over: Partial<ProjectWeek>): ProjectWeek => ({
  id: 'p1',
  name: 'Shop',
  newIssues: 0,
  regressed: 0,
  events: 0,
  eventsBefore: 0,
  crashFree: null,
  crashFreeBefore: null,
  issues: [],
  ...over,
})

test('the mail says what changed, names what was quiet, and links the most frequent issues', () => {
  const issue = { id: 'i1', shortId: 'SHOP-1', title: `${'x'.repeat(200)}😀`, events: 1_200 }
  const mail = digestMail({ name: 'Meadowlark', publicUrl: 'https://f.example' }, [
    week({
      newIssues: 3,
      regressed: 1,
      events: 1_240,
      eventsBefore: 1_000,
      crashFree: 0.9921,
      crashFreeBefore: 0.9911,
      issues: [issue],
    }),
    week({
      name: 'Docs',
      events: 10,
      eventsBefore: null,
      issues: [{ ...issue, id: 'i2', shortId: 'DOCS-1', events: 7 }],
    }),
    week({ name: 'Old' }),
    week({ name: 'Older' }),
  ])
  expect(mail.subject).toBe('[Meadowlark] Your week: 3 new issues')
  expect(mail.paragraphs).toEqual([
    'In the last seven days: 3 new issues, 1 regressed issue and 1,250 events.',
    'No events: Old and Older.',
  ])
  expect(mail.details).toEqual([
    ['Shop', '3 new, 1 regressed, 1,240 events (+24 %), crash-free 99.21 % (+0.10)'],
    ['Docs', '0 new, 0 regressed, 10 events'],
  ])
  expect(mail.links?.map(({ url }) => url)).toEqual(['https://f.example/issues/i1', 'https://f.example/issues/i2'])
  expect(mail.links?.[0]?.label).toHaveLength('SHOP-1 '.length + 90 + ', 1,200 events'.length)
  expect(digestMail({ name: 'Meadowlark', publicUrl: 'https://f.example' }, [week({})]).paragraphs).toEqual([
    'Nothing happened in your projects in the last seven days.',
  ])
})
