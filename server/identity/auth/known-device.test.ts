import { expect, test } from 'vitest'
import { aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { requireRecentSignIn } from './require-recent-sign-in.ts'

const { app } = await testApp()

const send = ({ actor }: Person, password: string) => requireRecentSignIn(app, actor, password)
const startedBy = async (person: Person, method: 'oidc' | 'oauth'): Promise<Person> => {
  await app.db.updateTable('sessions').set({ method }).where('id', '=', person.actor.sessionId).execute()
  return person
}

test('sessions that a provider began share one count of wrong passwords, which is no other session’s', async () => {
  const person = await aPerson(app)
  const sessions = [
    await startedBy(await aMembership(app, person), 'oidc'),
    await startedBy(await aMembership(app, person), 'oidc'),
  ] as const
  const oauth = await startedBy(await aMembership(app, person), 'oauth')
  for (let i = 0; i < 5; i += 1)
    await expect(send(sessions[i % 2 === 0 ? 0 : 1], 'not the password')).rejects.toMatchObject({ code: 'invalid' })
  // Another session of the provider is no new chance.
  const another = await startedBy(await aMembership(app, person), 'oidc')
  for (const session of [...sessions, another])
    await expect(send(session, person.password)).rejects.toMatchObject({ code: 'rate_limited' })
  for (const session of [person, oauth]) await expect(send(session, person.password)).resolves.toBeUndefined()
})
