import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import { anEvent, dsnParts, newEventId } from '#test/kit/sdk.ts'
import { writeEnvelope, type NewItem } from '#server/events/protocol/envelope.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { TestProject } from '#test/kit/founder.ts'

/** A file that is refused is named on its event, because users look for it there. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const limited = await testServer()
const owner = await server.founder()
const MIB = 1024 * 1024

/** Hexadecimal digits of random bytes, as a heap dump is: gzip makes half of it. */
const heapDump = (mib: number): string => randomBytes((mib * MIB) / 2).toString('hex')

const file = (filename: string, payload: string, headers: Record<string, string | number> = {}): NewItem => ({
  type: 'attachment',
  headers: { filename, ...headers },
  payload,
})

const event = (eventId: string): NewItem => ({
  type: 'event',
  payload: JSON.stringify(anEvent({ event_id: eventId })),
})

async function send(project: TestProject, eventId: string, items: readonly NewItem[]): Promise<number> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    headers: { 'content-encoding': 'gzip' },
    body: new Uint8Array(gzipSync(writeEnvelope({ event_id: eventId }, items), { level: 1 })),
  })
  await answer.arrayBuffer()
  await server.service.drain()
  return answer.status
}

async function issueOf(project: TestProject): Promise<IssueDetail> {
  const [issue] = await server.issues(owner, `projectId=${project.id}`)
  const answer = await owner.get(`/api/issues/${issue?.id}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<IssueDetail>()
}

async function outcomes(project: TestProject): Promise<string[]> {
  const { rows } = await server.app.db.query<{ line: string }>(
    `select outcome || ':' || reason || ' ' || sum(quantity) as line from outcomes_hourly
     where project_id = $1 and category = 'attachment' group by outcome, reason order by 1`,
    [project.id],
  )
  return rows.map(({ line }) => line)
}

const HEAP_DUMP = 'heap.dump (22 MiB) was refused: an attachment has at most 20 MiB.'

test('in the envelope of the event', async () => {
  const project = await server.project(owner)
  const eventId = newEventId()
  expect(await send(project, eventId, [event(eventId), file('heap.dump', heapDump(22)), file('a.log', 'x')])).toBe(200)
  const issue = await issueOf(project)
  expect(issue.attachments.map(({ filename }) => filename)).toEqual(['a.log'])
  expect(issue.refused_attachments).toMatchObject([
    { filename: 'heap.dump', size_bytes: 22 * MIB, refused: 'too_large', message: HEAP_DUMP },
  ])
  expect(issue.event?.errors).toEqual([{ name: 'attachment', reason: HEAP_DUMP }])
  const one = await owner.get(`/api/issues/${issue.id}/events/${eventId}`)
  expect(one.body['event']).toMatchObject({ errors: [{ name: 'attachment', reason: HEAP_DUMP }] })
  expect(await outcomes(project)).toEqual(['accepted: 1', 'invalid:too_large 1'])
  // Only stored files can be downloaded.
  const id = issue.refused_attachments[0]?.id
  expect((await owner.get(`/api/projects/${project.id}/attachments/${id}`)).status).toBe(404)
})

test.each(['before', 'after'])('in an envelope of its own, %s the event, sent twice', async (when) => {
  const project = await server.project(owner)
  const eventId = newEventId()
  const dump = [file('heap.dump', heapDump(22))]
  if (when === 'after') await send(project, eventId, [event(eventId)])
  expect(await send(project, eventId, dump)).toBe(413)
  expect(await send(project, eventId, dump)).toBe(413)
  if (when === 'before') await send(project, eventId, [event(eventId)])
  const issue = await issueOf(project)
  expect(issue.attachments).toEqual([])
  expect(issue.refused_attachments.map(({ message }) => message)).toEqual([HEAP_DUMP])
  expect(await outcomes(project)).toEqual(['invalid:too_large 2'])
})

test('for their number; an event names at most 30 files', async () => {
  const project = await server.project(owner)
  const eventId = newEventId()
  const many = (name: string) => Array.from({ length: 50 }, (_, at) => file(`${name}-${at}.log`, 'x'))
  expect(await send(project, eventId, [event(eventId), ...many('first')])).toBe(200)
  let issue = await issueOf(project)
  expect(issue.attachments).toHaveLength(30)
  expect(issue.refused_attachments).toHaveLength(20)
  expect(issue.refused_attachments[0]).toMatchObject({
    filename: 'first-30.log',
    refused: 'too_many',
    message: 'first-30.log (1 byte) was refused: an envelope has at most 30 attachments.',
  })
  await send(project, eventId, many('second'))
  await send(project, eventId, many('third'))
  issue = await issueOf(project)
  expect(issue.refused_attachments).toHaveLength(30)
})

test('announced for an upload that is not offered', async () => {
  const project = await server.project(owner)
  const eventId = newEventId()
  const reference = file('trace.zip', '{"location":"/api/1/upload/x"}', {
    content_type: 'application/vnd.sentry.attachment-ref+json',
    attachment_length: 150 * MIB,
  })
  await send(project, eventId, [event(eventId), reference])
  expect((await issueOf(project)).refused_attachments).toMatchObject([
    { filename: 'trace.zip', size_bytes: 150 * MIB, refused: 'upload' },
  ])
})

test('over the rate limit, while the event is accepted', async () => {
  const ada = await limited.founder()
  const project = await limited.project(ada)
  await ada.patch(`/api/projects/${project.id}/settings`, { rate_limit_per_minute: 9 })
  const { key, projectNumber } = dsnParts(project.dsn)
  const eventId = newEventId()
  const files = Array.from({ length: 20 }, (_, at) => file(`${at}.log`, 'x'))
  const answer = await fetch(`${limited.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: new Uint8Array(writeEnvelope({ event_id: eventId }, [event(eventId), ...files])),
  })
  expect(answer.status).toBe(429)
  await limited.service.drain()
  const [issue] = await limited.issues(ada, `projectId=${project.id}`)
  const detail = (await ada.get(`/api/issues/${issue?.id}`)).as<IssueDetail>()
  expect(detail.attachments.length + detail.refused_attachments.length).toBe(20)
  expect(new Set(detail.refused_attachments.map(({ refused }) => refused))).toEqual(new Set(['rate_limited']))
})

test('not where the event is dropped, and deleted with its project', async () => {
  const project = await server.project(owner)
  await owner.patch(`/api/projects/${project.id}/settings`, { inbound_filters: { releases: ['bad@*'] } })
  const eventId = newEventId()
  const bad = { type: 'event', payload: JSON.stringify(anEvent({ event_id: eventId, release: 'bad@1' })) }
  await send(project, eventId, [bad, file('heap.dump', heapDump(22))])
  const { rows } = await server.app.db.query('select 1 from attachments where project_id = $1', [project.id])
  expect(rows).toEqual([])
})
