import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../kernel/ids.ts'
import type { Tx } from '../storage/database.ts'
import { readPiece, releaseBlobs, holdBlobs, type BlobUse } from './blobs.queries.ts'
import { packContent, PIECE_BYTES } from './pack-content.ts'
import { receiveContent } from './receive-content.ts'
import { sweepBlobs } from './sweep-blobs.ts'

const { app, clock } = await testApp()

const aUse = (orgId: string, content: BlobUse['content'], holderId = newId()): BlobUse => ({
  holder: 'test',
  holderId,
  orgId,
  day: null,
  content,
})
const use = (...uses: BlobUse[]) => app.tx((tx) => holdBlobs(tx, uses))
const release = (...holders: string[]) => app.tx((tx) => releaseBlobs(tx, 'test', holders))

type Blob = { id: string; size_bytes: number | null; pieces: number; uses: number }
const blobsOf = async (orgId: string): Promise<Blob[]> =>
  (
    await app.db.query<Blob>(
      `select id, size_bytes, (select count(*)::int from blob_pieces where blob_id = b.id) as pieces,
         (select count(*)::int from blob_uses where blob_id = b.id) as uses
       from blobs b where org_id = $1 order by id`,
      [orgId],
    )
  ).rows

async function contentOf(blobId: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let seq = 0; ; seq++) {
    const piece = await readPiece(app.db, blobId, seq)
    if (piece === null) return Buffer.concat(pieces)
    pieces.push(piece)
  }
}

/** A transaction that stays open until it is ended; `done` settles after its commit. */
async function hold(work: (tx: Tx) => Promise<void>): Promise<{ end: () => Promise<void> }> {
  const [worked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = app.tx(async (tx) => {
    await work(tx)
    worked.resolve()
    await ended.promise
  })
  await Promise.race([worked.promise, done])
  return { end: () => (ended.resolve(), done) }
}

/** Whether a statement with this text waits for another transaction. */
const isWaiting = async (text: string): Promise<boolean> =>
  (
    await app.db.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and strpos(query, $1) > 0`,
      [text],
    )
  ).rowCount === 1

async function* parts(content: Buffer, size = 70_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}

test('an organisation has a content once, however many rows need it; another organisation has its own', async () => {
  const [org, other] = [newId(), newId()]
  const bytes = Buffer.concat([randomBytes(PIECE_BYTES), Buffer.alloc(PIECE_BYTES, 'text')])
  const content = await packContent(bytes)
  await use(aUse(org, content), aUse(org, content), aUse(org, await packContent(Buffer.alloc(0))))
  await use(aUse(org, content), aUse(other, content))
  expect((await blobsOf(org)).toSorted((a, b) => a.pieces - b.pieces)).toMatchObject([
    { size_bytes: 0, pieces: 0, uses: 1 },
    { size_bytes: bytes.length, pieces: 2, uses: 3 },
  ])
  const [copy] = await blobsOf(other)
  expect(copy).toMatchObject({ pieces: 2, uses: 1 })
  expect((await contentOf(copy?.id ?? '')).equals(bytes)).toBe(true)
})

test('a content is deleted with its last use, and not with one before', async () => {
  const [org, other] = [newId(), newId()]
  const content = await packContent(Buffer.from('content'))
  const [first, second, third] = [newId(), newId(), newId()]
  await use(aUse(org, content, first), aUse(org, content, second), aUse(other, content, third))
  await release(first)
  await release(first, newId())
  expect(await blobsOf(org)).toMatchObject([{ uses: 1 }])
  await release(second)
  expect(await blobsOf(org)).toEqual([])
  expect(await blobsOf(other)).toMatchObject([{ uses: 1, pieces: 1 }])
})

test('the same content at the same time is stored once, and by the second when the first fails', async () => {
  for (const [outcome, uses] of [
    ['commits', 2],
    ['fails', 1],
  ] as const) {
    const org = newId()
    const content = await packContent(Buffer.from(outcome))
    const first = await hold((tx) => holdBlobs(tx, [aUse(org, content)]))
    const second = use(aUse(org, content))
    await waitFor('the second transaction waits', () => isWaiting('insert into blobs'))
    if (outcome === 'fails')
      await app.db.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and state = 'idle in transaction'`,
      )
    const ended = first.end()
    await (outcome === 'fails' ? expect(ended).rejects.toThrow() : ended)
    await second
    expect(await blobsOf(org), outcome).toMatchObject([{ pieces: 1, uses }])
  }
})

test('a content whose last use ends while another begins stays', async () => {
  const org = newId()
  const content = await packContent(Buffer.from('kept'))
  const [old, fresh] = [newId(), newId()]
  await use(aUse(org, content, old))
  const beginning = await hold((tx) => holdBlobs(tx, [aUse(org, content, fresh)]))
  await release(old)
  expect(await sweepBlobs(app)).toBe(0)
  await beginning.end()
  expect(await blobsOf(org)).toMatchObject([{ pieces: 1, uses: 1 }])
})

test('a content that is being deleted when a use begins is stored again', async () => {
  const org = newId()
  const content = await packContent(Buffer.from('again'))
  const old = newId()
  await use(aUse(org, content, old))
  const [before] = await blobsOf(org)
  const deleting = await hold(async (tx) => {
    await releaseBlobs(tx, 'test', [old])
    await tx.runDeferred()
  })
  const fresh = use(aUse(org, content))
  await waitFor('the use waits', () => isWaiting('join blobs'))
  await deleting.end()
  await fresh
  const after = await blobsOf(org)
  expect(after).toMatchObject([{ pieces: 1, uses: 1 }])
  expect(after[0]?.id).not.toBe(before?.id)
})

test('what two transactions release at the same time is deleted by the sweep', async () => {
  const org = newId()
  const content = await packContent(Buffer.from('swept'))
  const [first, second] = [newId(), newId()]
  await use(aUse(org, content, first), aUse(org, content, second))
  const releasing = await hold(async (tx) => {
    await releaseBlobs(tx, 'test', [first])
    await tx.runDeferred()
  })
  await release(second)
  await releasing.end()
  expect(await blobsOf(org)).toMatchObject([{ uses: 0 }])
  expect(await sweepBlobs(app)).toBe(1)
  expect(await blobsOf(org)).toEqual([])
})

test('a received content becomes a blob, or the one that the organisation has', async () => {
  const org = newId()
  const bytes = Buffer.concat([randomBytes(PIECE_BYTES + 7), Buffer.alloc(PIECE_BYTES, 'x')])
  const received = await receiveContent(app, org, parts(bytes))
  const again = await receiveContent(app, org, parts(bytes))
  expect(received).toMatchObject({ sizeBytes: bytes.length, sha256: (await packContent(bytes)).sha256 })
  await use(aUse(org, received))
  await use(aUse(org, again), aUse(org, await packContent(bytes)))
  const blobs = await blobsOf(org)
  expect(blobs).toMatchObject([{ size_bytes: bytes.length, pieces: 3, uses: 3 }])
  expect((await contentOf(blobs[0]?.id ?? '')).equals(bytes)).toBe(true)
  await use(aUse(org, await receiveContent(app, org, parts(Buffer.alloc(0)))))
  expect((await blobsOf(org)).at(-1)).toMatchObject({ size_bytes: 0, pieces: 0, uses: 1 })
})

test('receiving stores nothing when the content breaks off', async () => {
  const org = newId()
  const bytes = randomBytes(PIECE_BYTES + 2)
  const broken = async function* (): AsyncGenerator<Buffer> {
    yield bytes
    throw new Error('gone')
  }
  await expect(receiveContent(app, org, broken())).rejects.toThrow('gone')
  expect(await blobsOf(org)).toEqual([])
})

test('a content that was received and not used is deleted a day later, and cannot be used after that', async () => {
  const org = newId()
  const received = await receiveContent(app, org, parts(Buffer.from('forgotten')))
  expect(await sweepBlobs(app)).toBe(0)
  clock.advance(86_400_001)
  expect(await sweepBlobs(app)).toBe(1)
  await expect(use(aUse(org, received))).rejects.toThrow('The upload took too long.')
  expect(await blobsOf(org)).toEqual([])
})
