import { expect, test } from 'vitest'
import { aCaller, aSession } from '#test/kit/members.ts'
import { actorForLog, actorLabel, memberBehind, requireActingMember, systemActor, type Actor } from './actor.ts'

const ada = { userId: 'u', name: 'Ada', orgId: 'o', role: 'member' } as const
const actors: Record<Actor['kind'], Actor> = {
  user: aSession(ada),
  api_key: { kind: 'api_key', ...ada, ...aCaller(), keyId: 'k', scopes: ['issues:read'] },
  assistant: { kind: 'assistant', ...ada, ...aCaller() },
  chat: { kind: 'chat', ...ada, ...aCaller() },
  integration: { kind: 'integration', integrationId: 'i', name: 'GitHub', orgId: 'o', ...aCaller() },
  system: systemActor('sweep-issues'),
}
const { user, api_key: apiKey, assistant, chat, integration, system } = actors

test('a user, an API key, the assistant and a user of the chat act as a member', () => {
  for (const actor of [user, apiKey, assistant, chat]) expect(requireActingMember(actor)).toMatchObject(ada)
})

test('an integration and the system are no members: operations that need a member refuse them', () => {
  for (const actor of [integration, system]) {
    expect(memberBehind(actor)).toBeNull()
    expect(() => requireActingMember(actor)).toThrow(
      expect.objectContaining({ code: 'forbidden', message: 'Only a member of the organisation can do this.' }),
    )
  }
})

test('each kind of actor has a name for the activity', () => {
  expect([user, apiKey, assistant, chat, integration, system].map(actorLabel)).toEqual([
    'Ada',
    'Ada',
    'The assistant (for Ada)',
    'Ada',
    'GitHub',
    'Faultline',
  ])
})

test('the log fields of an actor name its request or its operation', () => {
  expect(actorForLog(user)).toEqual({ actor: 'user', user_id: 'u', org_id: 'o', request_id: 'test' })
  expect(actorForLog(integration)).toEqual({ actor: 'integration', user_id: null, org_id: 'o', request_id: 'test' })
  expect(actorForLog(system)).toEqual({ actor: 'system', user_id: null, operation: 'sweep-issues' })
})
