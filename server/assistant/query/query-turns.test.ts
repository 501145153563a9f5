import { expect, test } from 'vitest'
import { aSession } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { countQuery, inQueryTurn } from './run-query.ts'

const { app, clock } = await testApp()
const member = (orgId: string) => aSession({ userId: newId(), name: 'Ada', orgId, role: 'member' })

test('statements of one organisation leave room for those of others', async () => {
  const gate = Promise.withResolvers<string>()
  const [own, foreign] = [newId(), newId()]
  const wait = (orgId: string) => inQueryTurn(app, member(orgId), () => gate.promise)
  const running = [wait(own), wait(own)]
  await expect(wait(own)).rejects.toMatchObject({ code: 'rate_limited' })
  running.push(wait(foreign))
  gate.resolve('done')
  expect(await Promise.all(running)).toEqual(['done', 'done', 'done'])
  expect(await wait(own)).toBe('done')
})

test('a statement that fails gives its place back', async () => {
  const actor = member(newId())
  const fail = () => inQueryTurn(app, actor, () => Promise.reject(new Error('broken')))
  for (let n = 0; n < 5; n++) await expect(fail()).rejects.toThrow('broken')
})

test('a member has 20 queries within a minute', () => {
  const actor = member(newId())
  const other = member(actor.orgId)
  for (let n = 0; n < 20; n++) countQuery(app, actor)
  expect(() => countQuery(app, actor)).toThrow('the maximum')
  countQuery(app, other)
  clock.advance(60_001)
  countQuery(app, actor)
})
