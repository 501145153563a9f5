import { expect, test } from 'vitest'
import { expoToken } from '#test/kit/push-devices.ts'
import { pushWorld } from '#test/kit/push-world.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Alert } from './alerts.api.ts'
import { sendDue } from './keep-alerts.ts'

const { expo, env, follow } = await pushWorld()
const t = await testServer({ env, deliveries: true })
follow(t.clock)
const { app, clock } = t

test('an alert reaches the phones of members who asked for it, and again when it escalates', async () => {
  const owner = await t.founder()
  const off = await t.member(owner, { name: 'Off', role: 'viewer' })
  const viewer = await t.member(owner, { name: 'Vera', role: 'viewer' })
  const token = expoToken()
  for (const [member, of] of [
    [off, expoToken()],
    [viewer, token],
  ] as const)
    expect((await member.post('/api/notifications/devices', { token: of, platform: 'ios' })).status).toBe(201)
  await off.patch('/api/me/notifications', { channels: { push: false } })
  const project = await t.project(owner)
  const rule = await owner.post('/api/alerts', {
    projectId: project.id,
    name: 'New',
    trigger_type: 'new_issue',
    escalate_after_minutes: 5,
    escalation_actions: [{ type: 'pager', routing_key: 'abcdefabcdefabcdefabcdefabcd1234' }],
    actions: [],
  })
  expect(rule.status, rule.text).toBe(201)
  const issue = await t.issue({ project, by: owner, error: 'pay' })
  const only = async (): Promise<Alert | undefined> =>
    (await owner.get(`/api/alerts/fired?issue_id=${issue.id}`)).as<{ items: Alert[] }>().items[0]
  const pushed = (count: number) =>
    waitFor(`${count} pushes`, async () => {
      const alert = await only()
      const pushes = alert?.deliveries.filter(({ action_type: type }) => type === 'push') ?? []
      return pushes.length === count && pushes.every(({ state }) => state === 'delivered') && { alert, pushes }
    })
  const { alert, pushes } = await pushed(1)
  expect(pushes).toMatchObject([{ action_id: null, purpose: 'fired', target: `ExponentPushToken[…${token.slice(-5)}` }])
  expect(expo.taken).toMatchObject([
    {
      to: token,
      title: alert?.title,
      data: { alert_id: alert?.id, issue_id: issue.id, project_id: project.id },
    },
  ])
  expect(expo.taken[0]?.data?.['url']).toContain(alert?.id)
  clock.advance(6 * 60_000)
  await sendDue(app)
  await pushed(2)
  expect(expo.taken.at(-1)?.title).toBe(`Not acknowledged: ${alert?.title}`)
  expect(expo.taken).toHaveLength(2)
})
