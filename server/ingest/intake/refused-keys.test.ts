import { expect, test } from 'vitest'
import { testServer } from '#test/kit/test-server.ts'
import { anEvent, dsnParts, envelopeOf } from '#test/kit/sdk.ts'
import { waitFor } from '#test/kit/wait.ts'

const server = await testServer()
const founder = await server.founder()

type Refusal = { readonly at: string; readonly reason: string } | null

async function refusalOf(projectId: string): Promise<Refusal> {
  const answer = await founder.get(`/api/projects/${projectId}/settings`)
  return answer.as<{ last_key_refusal: Refusal }>().last_key_refusal
}

async function send(projectNumber: number | string, key: string): Promise<number> {
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: envelopeOf(anEvent()),
  })
  await answer.text()
  return answer.status
}

test('a request with a wrong key is remembered with its reason, once in ten seconds', async () => {
  const [project, other] = [await server.project(founder), await server.project(founder)]
  const { projectNumber } = dsnParts(project.dsn)
  expect(await refusalOf(project.id)).toBeNull()
  expect(await send(projectNumber, '0'.repeat(32))).toBe(403)
  await waitFor('the refusal', async () => (await refusalOf(project.id))?.reason === 'unknown')
  const first = await refusalOf(project.id)

  // Within the same ten seconds nothing is written again.
  expect(await send(projectNumber, dsnParts(other.dsn).key)).toBe(403)
  server.clock.advance(11_000)
  expect(await send(projectNumber, dsnParts(other.dsn).key)).toBe(403)
  await waitFor('the other reason', async () => (await refusalOf(project.id))?.reason === 'other_project')
  expect(Date.parse((await refusalOf(project.id))?.at ?? '')).toBeGreaterThanOrEqual(
    Date.parse(first?.at ?? '') + 11_000,
  )
  expect(await refusalOf(other.id)).toBeNull()
})

test('numbers of no project, and impossible ones, change nothing', async () => {
  const project = await server.project(founder)
  for (const number of ['999999', '99999999999999999999', '4294967297'])
    expect(await send(number, '0'.repeat(32))).toBe(403)
  expect(await send(dsnParts(project.dsn).projectNumber, dsnParts(project.dsn).key)).toBe(200)
  expect(await refusalOf(project.id)).toBeNull()
})

test('a body that no SDK sends is remembered too, with the right key', async () => {
  const project = await server.project(founder)
  const { projectNumber, key } = dsnParts(project.dsn)
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: 'not an envelope',
  })
  expect(answer.status).toBe(400)
  await waitFor('the refusal', async () => (await refusalOf(project.id))?.reason === 'unreadable')
})
