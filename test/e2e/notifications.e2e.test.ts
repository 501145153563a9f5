import { expect, test } from 'vitest'
import { expoToken, fcmToken } from '../kit/push-devices.ts'
import { pushWorld } from '../kit/push-world.ts'
import { eventually, expectAccessibleInThemes, expectNoSideScroll, screenshot, SIZES } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const { expo, env } = await pushWorld()
const dashboard = await testDashboard({ env })
const { server } = dashboard

test('a member chooses channels and quiet hours, tests a device and removes it', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto('/me/profile')
  await page.getByRole('navigation', { name: 'Personal settings' }).getByRole('link', { name: 'Notifications' }).click()
  await page.getByText('No devices yet.').waitFor()

  const email = page.getByRole('switch', { name: 'E-mail', exact: true })
  await email.click()
  await eventually(() => email.getAttribute('aria-checked')).toBe('false')
  await page.getByRole('group', { name: 'Push from severity' }).getByRole('button', { name: 'High' }).click()

  // The browser's time zone is offered, not UTC.
  await page.getByRole('switch', { name: 'Hold back e-mails and pushes' }).click()
  const zone = page.getByLabel('Time zone')
  const own = await page.evaluate(() => new Intl.DateTimeFormat().resolvedOptions().timeZone)
  expect(await zone.inputValue()).toBe(own)
  await zone.selectOption('Australia/Adelaide')
  await page.getByLabel('From', { exact: true }).fill('21:30')
  await page.getByLabel('Until', { exact: true }).fill('21:30')
  await page.getByText('These quiet hours would never end.').first().waitFor()
  await page.getByRole('checkbox', { name: 'Wednesday' }).uncheck()
  await page.getByRole('button', { name: 'Save quiet hours' }).click()
  await page.getByText('Quiet hours saved').last().waitFor()
  await page.reload()
  await page.getByRole('button', { name: `Use ${own}, the zone of this browser` }).waitFor()
  const stored = (await person.get('/api/me/notifications')).body
  expect(stored).toEqual({
    channels: { email: false, push: true },
    push_min_severity: 'high',
    weekly_digest: { enabled: false, time_zone: 'UTC' },
    projects: [],
    quiet_hours: {
      enabled: true,
      start: '21:30',
      end: '21:30',
      time_zone: 'Australia/Adelaide',
      days: ['mon', 'tue', 'thu', 'fri', 'sat', 'sun'],
    },
  })

  const [alive, dead] = [expoToken(), expoToken()]
  expo.tokens.set(dead, { ticket: 'DeviceNotRegistered' })
  for (const [token, platform] of [
    [alive, 'ios'],
    [dead, 'android'],
  ] as const)
    await person.post('/api/notifications/devices', { token, platform })
  await page.reload()
  const devices = page.getByRole('list', { name: 'Devices' })
  await eventually(() => devices.getByRole('listitem').count()).toBe(2)
  await page.getByRole('button', { name: /^Send a test to iOS/ }).click()
  await page.getByText('Test sent.').waitFor()
  expect(expo.taken).toMatchObject([{ to: alive, title: 'Faultline test' }])
  await devices.getByText('last push').waitFor()
  await page.getByRole('button', { name: /^Send a test to Android/ }).click()
  await page.getByText('This device no longer accepts pushes and was removed.').waitFor()
  await eventually(() => devices.getByRole('listitem').count()).toBe(1)
  await page.getByRole('button', { name: /^Remove iOS/ }).click()
  await page.getByText('No devices yet.').waitFor()
})

test.each(SIZES)('the page with devices: %s', async (size) => {
  const { person } = await aTeam(server)
  const failing = expoToken()
  for (const [token, platform] of [
    [expoToken(), 'ios'],
    [failing, 'android'],
    [fcmToken(), 'web'],
  ] as const)
    await person.post('/api/notifications/devices', { token, platform })
  expo.tokens.set(failing, { ticket: 'MessageRateExceeded' })
  const { items } = (await person.get('/api/notifications/devices')).as<{ items: { id: string; platform: string }[] }>()
  for (const { id, platform } of items)
    if (platform !== 'web') await person.post(`/api/notifications/devices/${id}/test`)
  await person.patch('/api/me/notifications', { quiet_hours: { enabled: true, time_zone: 'Australia/Adelaide' } })
  const page = await dashboard.openAs(person, { size })
  await page.goto('/me/notifications')
  await page.getByLabel('Time zone').waitFor()
  await page.getByText('The last push failed:').waitFor()
  await expectAccessibleInThemes(page, `notifications, ${size}`)
  await expectNoSideScroll(page, `notifications, ${size}`)
  await screenshot(page, `notifications-${size}`, { fullPage: true })
})
