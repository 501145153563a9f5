import { expect, test } from 'vitest'
import { logInWithPassword as logIn } from '#test/kit/log-in.ts'
import { aCaller, aPerson, type Person } from '#test/kit/members.ts'
import { linkToken, queuedMails } from '#test/kit/queued-mails.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { changeEmail } from './change-email.ts'
import { changePassword } from './change-password.ts'
import { confirmEmail } from './confirm-email.ts'

const t = await testApp()
const { app, clock } = t

const anAddress = () => `new-${newId()}@example.com`
const ask = (person: Person, email: string, password: string | undefined = person.password) =>
  changeEmail(app, person.actor, { email, password })
const refused = { code: 'invalid', message: 'This link is not valid any more. Ask for a new one.' }

test('the address changes when the link in the mail to the new one is opened; both receive a mail', async () => {
  const person = await aPerson(app)
  const email = anAddress()
  await ask(person, email.toUpperCase())
  expect((await queuedMails(app, person.email)).map(({ subject }) => subject)).toEqual([
    'Your e-mail address is about to change',
  ])
  await expect(logIn(app, { email, password: person.password }, aCaller())).rejects.toMatchObject({
    code: 'unauthenticated',
  })
  const token = await linkToken(app, email)
  await confirmEmail(app, token, aCaller())
  await expect(logIn(app, { email, password: person.password }, aCaller())).resolves.toBeDefined()
  await expect(logIn(app, { email: person.email, password: person.password }, aCaller())).rejects.toMatchObject({
    code: 'unauthenticated',
  })
  for (const to of [person.email, email])
    expect((await queuedMails(app, to)).at(to === email ? 1 : -1)?.subject).toBe('Your e-mail address was changed')
  await expect(confirmEmail(app, token, aCaller())).rejects.toMatchObject(refused)
  const { rows } = await app.db.query('select action from audit_log where org_id = $1 and action = $2', [
    person.actor.orgId,
    'email.changed',
  ])
  expect(rows).toHaveLength(1)
})

test('needs the password; refuses the present address and one of another account', async () => {
  const person = await aPerson(app)
  const other = await aPerson(app)
  await expect(changeEmail(app, person.actor, { email: anAddress() })).rejects.toMatchObject({ code: 'invalid' })
  await expect(ask(person, anAddress(), 'wrong')).rejects.toMatchObject({
    code: 'invalid',
    message: 'password is wrong.',
  })
  await expect(ask(person, person.email)).rejects.toMatchObject({ code: 'invalid' })
  await expect(ask(person, other.email)).rejects.toMatchObject({ code: 'conflict' })
})

test('an account that took the address meanwhile keeps it', async () => {
  const person = await aPerson(app)
  const email = anAddress()
  await ask(person, email)
  const token = await linkToken(app, email)
  await aPerson(app, { email })
  await expect(confirmEmail(app, token, aCaller())).rejects.toMatchObject({ code: 'conflict' })
})

test('a link ends after an hour, with a newer one, and with a new password', async () => {
  const person = await aPerson(app)
  const [first, next] = [anAddress(), anAddress()]
  await ask(person, first)
  const replaced = await linkToken(app, first)
  await ask(person, next)
  await expect(confirmEmail(app, replaced, aCaller())).rejects.toMatchObject(refused)
  const newest = await linkToken(app, next)
  await changePassword(app, person.actor, {
    currentPassword: person.password,
    newPassword: 'a different good password',
  })
  await expect(confirmEmail(app, newest, aCaller())).rejects.toMatchObject(refused)
  const other = await aPerson(app)
  const late = anAddress()
  await ask(other, late)
  const token = await linkToken(app, late)
  clock.advance(60 * 60_000 + 1)
  await expect(confirmEmail(app, token, aCaller())).rejects.toMatchObject(refused)
})

test('of parallel confirmations exactly one changes the address', async () => {
  const person = await aPerson(app)
  const email = anAddress()
  await ask(person, email)
  const token = await linkToken(app, email)
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => confirmEmail(app, token, aCaller())))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})
