import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { startS3Server } from '#test/kit/s3-server.ts'
import { systemClock } from '../kernel/clock.ts'
import { ObjectStore, PART_BYTES } from './object-store.ts'

const server = await startS3Server()
afterAll(() => server.close())
beforeEach(() => {
  server.objects.clear()
  server.requests.length = 0
  server.fault = () => null
  server.now = () => new Date()
})

const storeWith = (changes: Partial<typeof server.settings> = {}, address = 's3://bucket/some/prefix') =>
  new ObjectStore(address, { ...server.settings, ...changes }, { clock: systemClock, retryScale: 0, timeoutMs: 5_000 })
const store = storeWith()

test('objects are written, read, listed and deleted below the prefix', async () => {
  await store.put('a/one', Buffer.from('first'))
  await store.put('b', Buffer.from('other'))
  expect([...server.objects.keys()]).toEqual(['some/prefix/a/one', 'some/prefix/b'])
  expect((await store.get('a/one'))?.toString()).toBe('first')
  expect((await store.get('a/one', { start: 1, end: 3 }))?.toString()).toBe('ir')
  expect(await store.get('missing')).toBeNull()
  expect((await store.list('a/')).map(({ key, bytes }) => ({ key, bytes }))).toEqual([{ key: 'a/one', bytes: 5 }])
  await store.remove('a/one')
  await store.remove('a/one')
  expect([...server.objects.keys()]).toEqual(['some/prefix/b'])
})

test('a list has all of its pages', async () => {
  for (let index = 0; index < 250; index++)
    server.objects.set(`some/prefix/many/${index}`, { body: Buffer.from('x'), modifiedAt: new Date() })
  expect(await store.list('many/')).toHaveLength(250)
})

test('a large object is uploaded in parts and copied inside of the store', async () => {
  const body = randomBytes(2 * PART_BYTES + 100)
  const parts = [0, 1, 2].map((number) => body.subarray(number * PART_BYTES, (number + 1) * PART_BYTES))
  // Answers of the second part and of the completion are lost once each.
  const lost = new Set<string>()
  server.fault = ({ method, query }) => {
    const step = method === 'POST' && query.has('uploadId') ? 'complete' : query.get('partNumber') === '2' ? 'part' : ''
    if (step === '' || lost.has(step)) return null
    lost.add(step)
    return 'lost'
  }
  await store.upload(
    'draft',
    (async function* all() {
      yield* parts
    })(),
  )
  await store.copy('draft', 'kept', body.length)
  expect(lost).toEqual(new Set(['part', 'complete']))
  expect(server.objects.get('some/prefix/kept')?.body.equals(body)).toBe(true)
  expect(server.uploads.size).toBe(0)
  expect((await buffer(store.read('kept'))).equals(body)).toBe(true)
})

test('an upload that fails leaves no object and no parts', async () => {
  const failing = (async function* all() {
    yield randomBytes(PART_BYTES)
    throw new Error('the source failed')
  })()
  await expect(store.upload('draft', failing)).rejects.toThrow('the source failed')
  expect([server.objects.size, server.uploads.size]).toEqual([0, 0])
})

test('busy answers are repeated, and cut ones continue where they ended', async () => {
  const body = randomBytes(3_000_000)
  let failures = 0
  server.fault = ({ method }) => (method === 'PUT' && failures++ < 3 ? { status: 503, code: 'SlowDown' } : null)
  await store.put('one', body)
  expect(failures).toBe(4)
  let cuts = 0
  server.fault = () => (cuts++ < 4 ? 'cut' : null)
  expect((await buffer(store.read('one'))).equals(body)).toBe(true)
  expect(cuts).toBe(5)
  cuts = 0
  expect((await store.get('one'))?.equals(body)).toBe(true)
})

test('each refusal is one line that says what to do', async () => {
  const line = (one: ObjectStore) => one.put('x', Buffer.from('x')).then(String, (error: Error) => error.message)
  expect(await line(storeWith({ accessKeyId: 'other' }))).toMatch(
    /Correct S3_ACCESS_KEY_ID\. \(403 InvalidAccessKeyId\)$/,
  )
  expect(await line(storeWith({ secretAccessKey: 'other' }))).toMatch(/Correct S3_SECRET_ACCESS_KEY\./)
  expect(await line(storeWith({ region: 'us-east-1' }))).toMatch(/is not in the region us-east-1\. Set S3_REGION/)
  expect(await line(storeWith({}, 's3://absent'))).toMatch(/has no bucket absent\. Make it/)
  const gone = await startS3Server()
  await gone.close()
  expect(await line(storeWith({ endpoint: gone.url }))).toMatch(/does not answer \(ECONNREFUSED\)\. Check S3_ENDPOINT/)
  server.now = () => new Date(Date.now() + 3_600_000)
  expect(await line(store)).toMatch(/clock of this machine differs .* by 3(?:599|600|601) s\. Set it right/)
  server.now = () => new Date()
  server.fault = () => ({ status: 403, code: 'AccessDenied' })
  expect(await line(store)).toMatch(/may not do this in the bucket bucket\. Allow it to/)
  server.requests.length = 0
  server.fault = () => ({ status: 503, code: 'SlowDown' })
  expect(await line(store)).toMatch(/\(503 SlowDown\)$/)
  expect(server.requests).toHaveLength(7)
})

test('a store that gives no answer is left after the time limit', async () => {
  server.fault = () => 'silent'
  const impatient = new ObjectStore('s3://bucket', server.settings, {
    clock: systemClock,
    timeoutMs: 50,
    attempts: 2,
    retryScale: 0,
  })
  await expect(impatient.get('x')).rejects.toThrow(/no answer within 50 ms/)
})
