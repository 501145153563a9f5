import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aMemberClient } from '../kit/member-client.ts'
import {
  eventually,
  expectAccessible,
  expectNoSideScroll,
  hasFocus,
  menuOpen,
  screenshot,
  settled,
  until,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'

const dashboard = await testDashboard({ localhost: true, deliveries: true })
const { server } = dashboard

const LOOKS = [
  { theme: 'light', size: 'desk' },
  { theme: 'dark', size: 'phone' },
] as const

async function fillPassword(page: Page, { email, password }: Pick<Person, 'email' | 'password'>): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.keyboard.press('Enter')
}

/** Waits until a session leads somewhere. */
const entered = (page: Page) => page.waitForURL(/\/(onboarding|issues|org|me)/)

/** The token of the newest link to a page in a mail to this address. */
const mailedToken = (to: string, path: string): Promise<string> =>
  until(`a mail to ${to}`, () => {
    const mail = server.mails.findLast((one) => one.to === to && one.text.includes(`${path}?token=`))
    return mail === undefined ? undefined : new RegExp(`${path}\\?token=([\\w-]+)`).exec(mail.text)?.[1]
  })

test('two-step log-in: set up with an app, log in with its code, with a backup code, and turn it off', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto('/me/security')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  const key = (await page.getByLabel('Key', { exact: true }).textContent()) ?? ''
  const codes = await page.getByRole('list', { name: 'Backup codes' }).getByRole('listitem').allTextContents()
  expect(codes).toHaveLength(10)
  const code = () => TOTP.generate({ secret: Secret.fromBase32(key.replaceAll(' ', '')) })

  await page.getByLabel('Code from the app').fill('12')
  await page.keyboard.press('Enter')
  await page.getByText('Enter the 6 digits that the app shows.').waitFor()
  await page.getByLabel('Code from the app').fill(code())
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Two-step log-in is on. Your other sessions were logged out.').waitFor()
  await page.getByText('10 backup codes left.').waitFor()

  // The codes stay until they are stored: they are not shown again.
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await eventually(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(codes.join('\n'))
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  expect((await download).suggestedFilename()).toBe('faultline-backup-codes.txt')
  await page.getByRole('link', { name: 'Appearance' }).click()
  const leaving = page.getByRole('dialog', { name: 'Leave without storing the codes?' })
  await leaving.getByRole('button', { name: 'Stay' }).click()
  await page.getByRole('button', { name: 'I have stored them' }).click()
  await eventually(() => page.getByText(codes[0] ?? '').count()).toBe(0)

  const other = await dashboard.open()
  await other.goto('/login?next=%2Fme%2Fsecurity')
  await fillPassword(other, person)
  const field = other.getByLabel('Code', { exact: true })
  await eventually(() => hasFocus(field)).toBe(true)
  await other.getByText(`6 digits from your authenticator app, for ${person.email}`).waitFor()
  await screenshot(other, 'login-code')
  await field.pressSequentially('000000')
  await other.getByRole('alert').filter({ hasText: /\w/ }).waitFor()
  expect(await field.inputValue()).toBe('')
  expect(await hasFocus(field)).toBe(true)
  // A pasted code may have a space; the sixth digit sends it.
  const now = code()
  await other.evaluate(`navigator.clipboard.writeText('${now.slice(0, 3)} ${now.slice(3)}')`)
  await other.keyboard.press('Control+v')
  await other.waitForURL('**/me/security')

  const third = await dashboard.open()
  await third.goto('/login')
  await fillPassword(third, person)
  await third.getByRole('button', { name: 'Use a backup code' }).click()
  await third.getByLabel('Backup code').fill(codes[3] ?? '')
  await third.keyboard.press('Enter')
  await entered(third)
  await third.goto('/me/security')
  await third.getByText('9 backup codes left.').waitFor()

  await third.getByRole('button', { name: 'Turn off' }).click()
  const dialog = third.getByRole('dialog', { name: 'Turn off two-step log-in?' })
  await dialog.getByRole('textbox', { name: 'Password' }).fill('not the password')
  await dialog.getByRole('button', { name: 'Turn off' }).click()
  await dialog.getByRole('alert').filter({ hasText: /\w/ }).waitFor()
  await dialog.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await dialog.getByRole('button', { name: 'Turn off' }).click()
  await third.getByRole('button', { name: 'Set up' }).waitFor()
})

test('a passkey is added, logs in, is renamed and removed', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.goto('/me/security')
  await page.getByText('No passkeys yet.').waitFor()
  await page.getByRole('button', { name: 'Add passkey' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' })
  await dialog.getByLabel('Name').fill('Work laptop')
  await page.keyboard.press('Enter')
  await page.getByText('Passkey added').waitFor()
  await page.getByText('Work laptop').waitFor()

  await page.getByRole('button', { name: /account of/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.waitForURL(/\/login/)
  await page.getByRole('button', { name: 'Continue with a passkey' }).click()
  await entered(page)

  await page.goto('/me/security')
  await page.getByText(/last used/).waitFor()
  await page.getByRole('button', { name: 'More actions: Work laptop' }).click()
  await menuOpen(page)
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Studio')
  await page.keyboard.press('Enter')
  await page.getByText('Passkey renamed').waitFor()
  await page.getByRole('button', { name: 'More actions: Studio' }).click()
  await menuOpen(page)
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  // The log-in is an hour old: an open browser alone must not remove it.
  const authenticated_at = new Date(server.app.clock.now().getTime() - 3_600_000)
  await server.app.db.updateTable('sessions').set({ authenticated_at }).execute()
  await page.getByRole('dialog', { name: 'Remove “Studio”?' }).getByRole('button', { name: 'Remove' }).click()
  const question = page.getByRole('dialog', { name: 'Enter your password' })
  await question.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await page.keyboard.press('Enter')
  await page.getByText('Passkey removed').waitFor()
  await page.getByText('No passkeys yet.').waitFor()

  // The device still has it; the service refuses it.
  await page.getByRole('button', { name: /account of/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.waitForURL(/\/login/)
  await page.getByRole('button', { name: 'Continue with a passkey' }).click()
  await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor()
  expect(page.url()).toContain('/login')
})

test('an invitation: a new account joins, a user who is logged in joins, another user is asked to log out', async () => {
  const { person } = await aTeam(server)
  const { person: guest } = await aTeam(server)
  const { org } = (await person.get('/api/me')).as<{ org: { name: string } }>()
  const invited = await person.post('/api/invites', { emails: ['new-here@example.com', guest.email], role: 'viewer' })
  expect(invited.status, invited.text).toBe(200)

  const page = await dashboard.open()
  const answer = await page.goto(`/invite?token=${await mailedToken('new-here@example.com', '/invite')}`)
  expect(answer?.headers()['referrer-policy']).toBe('no-referrer')
  await page.getByRole('heading', { name: `Join ${org.name}` }).waitFor()
  await page.getByText('new-here@example.com as a viewer').waitFor()
  // The token has left the address, and survives a reload.
  expect(page.url()).toMatch(/\/invite$/)
  await page.reload()
  await page.getByLabel('Your name').fill('Sam Okafor')
  await page.getByLabel('Choose a password').fill('granite-willow-compass-9')
  await page.getByRole('button', { name: 'Join' }).click()
  await entered(page)
  await page.getByText(`You joined ${org.name}`).waitFor()
  await page.getByRole('button', { name: /account of Sam Okafor/ }).waitFor()

  const token = await mailedToken(guest.email, '/invite')
  await page.goto(`/invite?token=${token}`)
  await page.getByText('You are logged in as new-here@example.com. Log out to accept this invitation.').waitFor()
  await page.getByRole('button', { name: 'Log out and continue' }).click()
  await page.getByLabel('Your Faultline password').waitFor()

  const own = await dashboard.openAs(guest)
  await own.goto(`/invite?token=${token}`)
  await own.getByText(`You are logged in as ${guest.email}.`).waitFor()
  await own.getByRole('button', { name: 'Join' }).click()
  await entered(own)
  await own.goto('/issues')
  await own.getByRole('button', { name: org.name }).waitFor()

  // Used once.
  await page.reload()
  await page.getByRole('heading', { name: 'This invitation no longer works' }).waitFor()
})

test('an invitation is accepted with the password of an existing account', async () => {
  const { person } = await aTeam(server)
  const { person: guest } = await aTeam(server)
  await person.post('/api/invites', { emails: [guest.email], role: 'member' })
  const page = await dashboard.open()
  await page.goto(`/invite?token=${await mailedToken(guest.email, '/invite')}`)
  await page.getByLabel('Your Faultline password').fill('not the password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor()
  await page.getByLabel('Your Faultline password').fill(guest.password)
  await page.keyboard.press('Enter')
  await entered(page)
  const { org } = (await person.get('/api/me')).as<{ org: { name: string } }>()
  await page.goto('/issues')
  await page.getByRole('button', { name: org.name }).waitFor()
})

test('the organisation is switched in all tabs', async () => {
  const { person } = await aTeam(server)
  const { person: guest } = await aTeam(server)
  await person.post('/api/invites', { emails: [guest.email], role: 'member' })
  const nameOf = async (one: Person) => (await one.get('/api/me')).as<{ org: { name: string } }>().org.name
  const [joined, own] = [await nameOf(person), await nameOf(guest)]
  const page = await dashboard.openAs(guest)
  await page.goto(`/invite?token=${await mailedToken(guest.email, '/invite')}`)
  await page.getByRole('button', { name: 'Join' }).click()
  await entered(page)
  await page.goto('/issues')
  const second = await page.context().newPage()
  await second.goto('/issues')
  await second.getByRole('button', { name: joined }).waitFor()

  await page.getByRole('button', { name: joined }).click()
  await menuOpen(page)
  await page.getByRole('menuitemcheckbox', { name: own }).click()
  // Both begin at the start; this organisation has no events yet.
  for (const tab of [page, second]) {
    await tab.waitForURL('**/onboarding')
    await tab.goto('/issues')
    await tab.getByRole('button', { name: own }).waitFor()
  }
})

test('a session that was ended elsewhere says why on the log-in page', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto('/me/appearance')
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  await page.goto('/login?ended=theft')
  await page.getByText('Your session was ended because an old token was used. Log in again.').waitFor()
  await page.goto('/login?error=not_linked')
  await page.getByText('Log in with your password once to link it.').waitFor()
})

test('single sign-on asks for the organisation and remembers it', async () => {
  await aTeam(server)
  const page = await dashboard.open()
  await page.goto('/login')
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Enter the short name of your organisation.').waitFor()
  await page.getByLabel('Organisation').fill('not-known-here')
  await page.keyboard.press('Enter')
  await page.getByText('Single sign-on is not available for this organisation.').waitFor()
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click()
  expect(await page.getByLabel('Organisation').inputValue()).toBe('not-known-here')
  await page.getByRole('link', { name: 'Back' }).click()
  await page.getByRole('button', { name: 'Log in' }).waitFor()
})

test('the log-in page and sign-up follow who may sign up', async () => {
  await aTeam(server)
  const page = await dashboard.open()
  await page.goto('/login')
  await page.getByRole('link', { name: 'Create an organisation' }).click()
  await page.getByRole('button', { name: 'Create organisation' }).waitFor()
  // As with FAULTLINE_SIGNUP=invite, which would refuse the organisations of the other tests.
  await page.route('**/api/auth/methods', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace('"open"', '"invite"') })
  })
  await page.goto('/signup')
  await page.getByText('New accounts are by invitation here.').waitFor()
  await page.getByRole('link', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  expect(await page.getByRole('link', { name: 'Create an organisation' }).count()).toBe(0)
})

test.each(LOOKS)('every step is accessible: $theme, $size', async ({ theme, size }) => {
  const { person } = await aTeam(server)
  await aMemberClient(server.app, server.url, person, { name: 'Tomo Arai' })
  const page = await dashboard.open({ theme, size })
  const judge = async (name: string) => {
    await settled(page)
    await expectAccessible(page, `${name}, ${theme}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `${name}-${theme}-${size}`, { fullPage: true })
  }
  await page.goto('/login?step=code')
  await page.getByLabel('Code', { exact: true }).pressSequentially('4182')
  await judge('login-code')
  await page.getByRole('button', { name: 'Use a backup code' }).click()
  await judge('login-backup')
  await page.goto('/login?step=link')
  await page.getByRole('button', { name: 'Link and log in' }).waitFor()
  await judge('login-link')
  await page.goto('/login?error=sso_failed')
  await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor()
  await judge('login-error')
  const to = `invited-${theme}@example.com`
  await person.post('/api/invites', { emails: [to], role: 'member' })
  await page.goto(`/invite?token=${await mailedToken(to, '/invite')}`)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByText('Enter your name.').waitFor()
  await judge('invite')
})
