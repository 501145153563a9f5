import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { EXAMPLES } from '#test/kit/route-examples.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Attachment } from '../../events/attachments/attachments.api.ts'

const t = await testServer()
const owner = await aPerson(t.app)

/** An event of its own issue, without files. */
async function anEvent(): Promise<string> {
  const { params } = await EXAMPLES.addAttachment(t.app, owner, owner)
  return `/api/issues/${params?.['issueId']}/events/${params?.['eventId']}/attachments`
}

async function add(path: string, body: string | Buffer, filename = 'a.log', cookie = owner.cookie) {
  const answer = await fetch(`${t.url}${path}?filename=${encodeURIComponent(filename)}`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'text/plain' },
    body,
  })
  return { status: answer.status, body: (await answer.json()) as Attachment & { error?: string } }
}

const blobs = async (): Promise<{ whole: number; drafts: number }> => {
  const { rows } = await t.app.db.query<{ whole: number; drafts: number }>(
    'select count(sha256)::int as whole, count(draft_since)::int as drafts from blobs',
  )
  return rows[0] ?? { whole: -1, drafts: -1 }
}

test('a file of several pieces is listed with its event and downloaded byte for byte', async () => {
  const [path, bytes] = [await anEvent(), randomBytes(2_500_000)]
  const added = await add(path, bytes, '../logs/app.log')
  expect(added).toMatchObject({ status: 201, body: { filename: 'app.log', size_bytes: bytes.length } })
  const { rows } = await t.app.db.query<{ project_id: string }>('select project_id from attachments where id = $1', [
    added.body.id,
  ])
  const file = await fetch(`${t.url}/api/projects/${rows[0]?.project_id}/attachments/${added.body.id}`, {
    headers: { cookie: owner.cookie },
  })
  expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true)
})

test('the same file is stored once: for one event it is refused, for two events at the same time it is shared', async () => {
  const [first, second] = [await anEvent(), await anEvent()]
  const before = await blobs()
  const both = await Promise.all([add(first, 'the same'), add(second, 'the same')])
  expect(both.map(({ status }) => status)).toEqual([201, 201])
  expect(await add(first, 'the same')).toMatchObject({
    status: 409,
    body: { error: 'The event has this file already.' },
  })
  const atOnce = await Promise.all([1, 2].map(() => add(first, 'twice at once')))
  expect(atOnce.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
  expect(await blobs()).toEqual({ ...before, whole: before.whole + 2 })
  expect(await add(first, '', 'empty.txt')).toMatchObject({ status: 201, body: { size_bytes: 0 } })
})

test('an upload that breaks off leaves nothing', async () => {
  const path = await anEvent()
  const before = await blobs()
  const { hostname, port } = new URL(t.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(
    `POST ${path}?filename=a HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncookie: ${owner.cookie}\r\ncontent-length: 3000000\r\n\r\n`,
  )
  socket.write(randomBytes(1_500_000))
  await waitFor('a stored piece', async () => (await blobs()).drafts > before.drafts)
  socket.destroy()
  await waitFor('no draft', async () => (await blobs()).drafts === before.drafts)
  expect(await blobs()).toEqual(before)
})

test('a file whose event is deleted while it arrives is refused and leaves nothing', async () => {
  const path = await anEvent()
  const before = await blobs()
  const arriving = new TransformStream<Uint8Array, Uint8Array>()
  const writer = arriving.writable.getWriter()
  const answer = fetch(`${t.url}${path}?filename=a`, {
    method: 'POST',
    headers: { cookie: owner.cookie },
    body: arriving.readable,
    duplex: 'half',
  })
  await writer.write(randomBytes(1_500_000))
  await waitFor('a stored piece', async () => (await blobs()).drafts > before.drafts)
  await t.app.db.query('delete from events where event_id = $1', [path.split('/').at(-2)])
  await writer.close()
  expect((await answer).status).toBe(404)
  expect(await blobs()).toEqual(before)
})

test('a caller without permission is answered before the body arrives', async () => {
  const path = await anEvent()
  const { hostname, port } = new URL(t.url)
  const socket = connect(Number(port), hostname)
  socket.write(`POST ${path}?filename=a HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-length: 3000000\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})
