import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aMemberClient } from '../kit/member-client.ts'
import { GOOD_PASSWORD } from '../kit/members.ts'
import {
  eventually,
  expectAccessible,
  expectNoSideScroll,
  hasFocus,
  menuOpen,
  press,
  screenshot,
  until,
  visit,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'

const dashboard = await testDashboard({ localhost: true, deliveries: true, jobs: true })
const { server } = dashboard

const LOOKS = [
  { theme: 'light', size: 'desk' },
  { theme: 'dark', size: 'phone' },
] as const
const NEW_PASSWORD = 'granite-willow-compass-9'

async function logIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/login')
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/(onboarding|issues)/)
}

/** The path and token of the newest link to a page in a mail to this address. */
const mailedLink = (to: string, path: string): Promise<string> =>
  until(`a mail to ${to}`, () => {
    const mail = server.mails.findLast((one) => one.to === to && one.text.includes(`${path}?token=`))
    return mail === undefined ? undefined : new RegExp(`${path}\\?token=[\\w-]+`).exec(mail.text)?.[0]
  })

test('a forgotten password is reset with the link of the mail, which works once', async () => {
  const { person } = await aTeam(server)
  const other = await dashboard.openAs(person)
  await other.goto('/me/appearance')
  await other.getByRole('heading', { name: 'Appearance' }).waitFor()

  const page = await dashboard.open()
  await page.goto('/login')
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  await page.getByRole('button', { name: 'Send link' }).click()
  await page.getByText('Enter your e-mail address.').waitFor()
  await page.getByLabel('E-mail').fill(person.email)
  await page.keyboard.press('Enter')
  await page.getByText('If this address has an account, a link is on its way.').waitFor()

  const link = await mailedLink(person.email, '/reset')
  const answer = await page.goto(link)
  expect(answer?.headers()['referrer-policy']).toBe('no-referrer')
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
  expect(page.url()).toMatch(/\/reset$/)
  await page.getByLabel('New password').fill('short')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: '3 more characters needed.' }).waitFor()
  await page.getByLabel('New password').fill(NEW_PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByText('Your password is set. Log in with it.').waitFor()
  await page.getByLabel('E-mail').fill(person.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(NEW_PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/(onboarding|issues)/)

  // The other browser is logged out, and reads why.
  await other.goto('/issues')
  await other.getByText('Your session was ended because your password was changed.').waitFor()

  await other.goto(link)
  await other.getByLabel('New password').fill('another-granite-compass-3')
  await other.keyboard.press('Enter')
  await other.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  await other.getByRole('link', { name: 'Get a new link' }).click()
  await other.getByRole('button', { name: 'Send link' }).waitFor()
})

test('sessions: one is ended, then all others, in two browsers; a device is forgotten', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.open()
  await logIn(page, person.email, person.password)
  const other = await dashboard.open()
  await logIn(other, person.email, person.password)
  await other.goto('/me/appearance')

  await page.goto('/me/sessions')
  const sessions = page.getByRole('list', { name: 'Sessions' })
  await eventually(() => sessions.getByRole('listitem').count()).toBe(3)
  expect(await sessions.getByText('this session').count()).toBe(1)
  await page
    .getByRole('button', { name: /^End the session on/ })
    .first()
    .click()
  await page.getByText('Session ended').waitFor()
  await eventually(() => sessions.getByRole('listitem').count()).toBe(2)

  await page.getByRole('button', { name: 'End all others' }).click()
  const dialog = page.getByRole('dialog', { name: 'End all other sessions?' })
  await dialog.getByRole('button', { name: 'End all others' }).click()
  await page.getByText('1 session ended').waitFor()
  await eventually(() => sessions.getByRole('listitem').count()).toBe(1)
  await other.goto('/issues')
  await other.getByText('Your session was ended from another device. Log in again.').waitFor()
  await page.reload()
  await sessions.waitFor()

  const devices = page.getByRole('list', { name: 'Recognised devices' })
  await devices.getByRole('listitem').first().waitFor()
  const before = await devices.getByRole('listitem').count()
  await page
    .getByRole('button', { name: /^Forget / })
    .first()
    .click()
  await page.getByText('Device forgotten.').waitFor()
  await eventually(() => devices.getByRole('listitem').count()).toBe(before - 1)
})

test('a copied token ends the session, and the log-in page says so', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto('/me/appearance')
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  // The thief is faster.
  expect((await person.post('/api/auth/refresh')).status).toBe(200)
  await page.context().clearCookies({ name: /svc_access$/ })
  await page.goto('/me/profile')
  await page.getByText('Your session was ended because an old token was used. Log in again.').waitFor()
  expect(new URL(page.url()).searchParams.get('next')).toBe('/me/profile')
})

test('name and e-mail address are changed; the only owner cannot delete the account', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto('/issues')
  await page.getByRole('button', { name: /account of/ }).click()
  await menuOpen(page)
  await page.getByRole('menuitem', { name: 'Profile' }).click()
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await name.fill('Ines Kovač ')
  await press(page, 'Enter')
  await page.getByText('Name saved').waitFor()
  await eventually(() => page.getByText('Unsaved changes').count()).toBe(0)
  expect(await hasFocus(name)).toBe(true)
  await page.getByRole('button', { name: /account of Ines Kovač/ }).waitFor()

  const address = `moved-${person.email}`
  await page.getByLabel('New e-mail address').fill(address)
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password')
  await page.getByRole('button', { name: 'Send confirmation' }).click()
  await page
    .getByRole('alert')
    .filter({ hasText: /password/i })
    .waitFor()
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await page.getByRole('button', { name: 'Send confirmation' }).click()
  await page.getByText(`A link is on its way to ${address}.`).waitFor()
  await page.goto(await mailedLink(address, '/confirm-email'))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('heading', { name: 'E-mail address changed' }).waitFor()
  await page.getByRole('link', { name: 'Continue to Faultline' }).click()
  await page.waitForURL(/\/(onboarding|issues|login)/)

  const again = await dashboard.open()
  await logIn(again, address, person.password)
  await again.goto('/me/profile')
  await again.getByRole('button', { name: 'Delete account' }).click()
  const dialog = again.getByRole('dialog', { name: 'Delete your account?' })
  await dialog.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await dialog.getByRole('button', { name: 'Delete account' }).click()
  // The only owner of an organisation reads what to do first.
  await dialog.getByRole('alert').filter({ hasText: /owner/ }).waitFor()
})

test('a member deletes the account, and cannot log in with it again', async () => {
  const { person } = await aTeam(server)
  const member = await aMemberClient(server.app, server.url, person, { name: 'Tomo Arai' })
  const page = await dashboard.openAs({ ...member, password: GOOD_PASSWORD })
  await page.goto('/me/profile')
  await page.getByRole('button', { name: 'Delete account' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete your account?' })
  await dialog.getByRole('textbox', { name: 'Password' }).fill(GOOD_PASSWORD)
  await dialog.getByRole('button', { name: 'Delete account' }).click()
  await page.getByText('Your account was deleted.').waitFor()
  await page.getByLabel('E-mail').fill(member.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(GOOD_PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: /wrong/ }).waitFor()
})

test('an old session asks for the password before it adds a way to sign in', async () => {
  const { person } = await aTeam(server)
  await makeOld(person)
  const page = await dashboard.openAs(person)
  await page.goto('/me/security')
  await page.getByRole('button', { name: 'Set up' }).click()
  const dialog = page.getByRole('dialog', { name: 'Enter your password' })
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByText('Enter your password.').waitFor()
  await dialog.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Turn on' }).waitFor()
})

/** The sessions of the user began an hour ago. */
async function makeOld(person: Person): Promise<void> {
  const { user } = (await person.get('/api/me')).as<{ user: { id: string } }>()
  await server.app.db
    .updateTable('sessions')
    .set({ authenticated_at: new Date(server.app.clock.now().getTime() - 3_600_000) })
    .where('user_id', '=', user.id)
    .execute()
}

test.each(LOOKS)('personal pages are accessible: $theme, $size', async ({ theme, size }) => {
  const { person } = await aTeam(server)
  const visitor = await dashboard.open({ theme, size })
  const judge = async (page: Page, name: string) => {
    await expectAccessible(page, `${name}, ${theme}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `${name}-${theme}-${size}`, { fullPage: true })
  }
  await visitor.goto('/forgot')
  await visitor.getByRole('button', { name: 'Send link' }).click()
  await judge(visitor, 'forgot')
  await visit(visitor, '/reset?token=unknown')
  await visitor.getByLabel('New password').fill('granite')
  await judge(visitor, 'reset')
  await visit(visitor, '/confirm-email?token=unknown')
  await visitor.getByRole('button', { name: 'Confirm' }).click()
  await visitor.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  await judge(visitor, 'confirm-email')

  const page = await dashboard.openAs(person, { theme, size })
  await page.goto('/me/profile')
  await page.getByRole('button', { name: 'Send confirmation' }).waitFor()
  await judge(page, 'profile')
  await visit(page, '/me/sessions')
  await page.getByRole('list', { name: 'Sessions' }).waitFor()
  await judge(page, 'sessions')
  await visit(page, '/me/security')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  await judge(page, 'security-set-up')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByRole('dialog', { name: 'Add a passkey' }).waitFor()
  await judge(page, 'security-add-passkey')
})
