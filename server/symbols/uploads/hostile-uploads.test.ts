import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { MAX_UPLOADS_PER_OWNER } from '#server/service/http/bind.ts'
import { createKey } from '#server/identity/api-keys/create-key.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { watchLoop } from '#test/kit/loop-watch.ts'
import { fieldPart, filePart, FORM_HEADERS, formOf } from '#test/kit/raw-form.ts'
import { insertProject } from '#test/kit/route-examples.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { type ZipEntry, zipOf, zipOfEntries } from '#test/kit/zip.ts'
import { findByDebugId } from '../files/indexes.queries.ts'
import { readForm } from './read-form.ts'
import { MAX_ORG_BYTES } from './store-files.ts'

/** Uploads as a hostile or clumsy user makes them: refused with a sentence, and nothing of them remains. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const macho = readFileSync(new URL('../../../test/fixtures/samples/artefacts/Acme.dSYM-DWARF.macho', import.meta.url))
const MAP = '{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA"}'
const MIB = 1024 * 1024

type Uploader = { readonly owner: Person; readonly projectId: string; readonly key: string }
async function anUploader(scopes: readonly string[] = ['uploads:write', 'releases:read']): Promise<Uploader> {
  const owner = await aPerson(t.app)
  const projectId = await insertProject(t.app, owner)
  return { owner, projectId, key: await aKey(owner, scopes) }
}
const aKey = async (owner: Person, scopes: readonly string[]): Promise<string> =>
  (await createKey(t.app, owner.actor, { name: 'CI', scopes: [...scopes] as never })).key

const shared = await anUploader()

type Answer = { readonly status: number; readonly body: Record<string, unknown> }
async function send(
  kind: 'source-maps' | 'dsyms',
  form: Buffer,
  { by = shared, headers = FORM_HEADERS }: { by?: Uploader; headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  const answer = await fetch(`${t.url}/api/projects/${by.projectId}/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by.key}`, ...headers },
    body: new Uint8Array(form),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

const TYPE = fieldPart('symbolication_type', 'js_source_map')
const RELEASE = fieldPart('release', 'web@1.0.0')

/** Rows and files that uploads may leave behind when they fail. */
async function remains() {
  const { rows } = await t.app.db.query<{ files: number; blobs: number }>(
    'select (select count(*)::int from symbol_files) as files, (select count(*)::int from blobs) as blobs',
  )
  return { ...rows[0], scratch: scratch() }
}
function scratch(): string[] {
  const folder = join(t.dataDir, 'uploads')
  return existsSync(folder) ? readdirSync(folder) : []
}

describe('a form', () => {
  test.each<[string, Buffer, string, Readonly<Record<string, string>>?]>([
    [
      'without boundary',
      formOf(TYPE, RELEASE, filePart(MAP)),
      'multipart/form-data',
      { 'content-type': 'multipart/form-data' },
    ],
    ['of JSON', Buffer.from('{}'), 'multipart/form-data', { 'content-type': 'application/json' }],
    ['compressed', gzipSync(formOf(TYPE)), 'Content-Encoding', { ...FORM_HEADERS, 'content-encoding': 'gzip' }],
    ['without file', formOf(TYPE, RELEASE), 'file is missing'],
    ['with the file in another field', formOf(TYPE, RELEASE, filePart(MAP, 'a.map', 'files')), 'file is missing'],
    ['with two files', formOf(TYPE, RELEASE, filePart(MAP), filePart(MAP)), 'one file per request'],
    ['with a field of 10 MB', formOf(TYPE, RELEASE, fieldPart('x', 'a'.repeat(10_000_000)), filePart(MAP)), '64 KiB'],
    [
      'with very many fields',
      formOf(...Array<Buffer>(100_000).fill(fieldPart('x', '')), filePart(MAP)),
      'too many parts',
    ],
    ['that is cut', formOf(TYPE, RELEASE, filePart(MAP)).subarray(0, -12), 'not complete'],
    ['that ends after its file', Buffer.concat([TYPE, RELEASE, filePart(MAP)]), 'not complete'],
    ['with an empty file', formOf(TYPE, RELEASE, filePart('')), 'empty'],
    ['of no kind', formOf(RELEASE, filePart(MAP)), 'symbolication_type'],
    [
      'with NUL in a release',
      formOf(TYPE, fieldPart('release', 'a\0b'), filePart(MAP)),
      'release must not hold the NUL',
    ],
    [
      'with NUL in a dist',
      formOf(TYPE, RELEASE, fieldPart('dist', 'a\0b'), filePart(MAP)),
      'dist must not hold the NUL',
    ],
    [
      'with NUL in an address',
      formOf(TYPE, RELEASE, fieldPart('filename', '~/\0'), filePart(MAP)),
      'filename must not',
    ],
    ['with NUL in the name of the file', formOf(TYPE, RELEASE, filePart(MAP, 'a\0b.map')), 'Send filename'],
    ['with a name of 1 MB', formOf(TYPE, RELEASE, filePart(MAP, 'x'.repeat(1_000_000))), 'Send filename'],
    [
      'with a release of 5,000 characters',
      formOf(TYPE, fieldPart('release', 'x'.repeat(5_000)), filePart(MAP)),
      'release',
    ],
    ['with a debug id that is none', formOf(TYPE, fieldPart('debug_id', "' or 1"), filePart(MAP)), 'debug_id'],
  ])('%s is refused with a sentence, and nothing remains', async (_, form, sentence, headers) => {
    const before = await remains()
    const { status, body } = await send('source-maps', form, headers === undefined ? {} : { headers })
    expect(status).toBe(400)
    expect(body).toEqual({ error: expect.stringContaining(sentence) as unknown })
    expect(await remains()).toEqual(before)
  })

  test.each([
    ['../../../etc/passwd', 'passwd', '~/passwd'],
    ['C:\\\\app\\\\main.js.map', 'main.js.map', '~/main.js'],
    ['\u202egpj.js.map', 'gpj.js.map', '~/\u202egpj.js'],
  ])('may name its file %j, which is never a path', async (filename, name, address) => {
    const content = MAP.replace('a.ts', newId())
    const { status, body } = await send('source-maps', formOf(filePart(content, filename), TYPE, RELEASE))
    expect(status).toBe(201)
    expect(body).toMatchObject({ name, filename: address })
    expect(scratch()).toEqual([])
  })

  test('larger than the limit of its kind is refused', async () => {
    const form = formOf(TYPE, RELEASE, filePart(Buffer.alloc(64 * MIB + 1)))
    expect(await send('source-maps', form)).toMatchObject({
      status: 413,
      body: { error: expect.stringContaining('64 MiB') as unknown },
    })
    expect(scratch()).toEqual([])
  })

  test('that is cut at 99 % leaves nothing behind, and its place is free again', async () => {
    const before = await remains()
    const form = formOf(TYPE, RELEASE, filePart(Buffer.alloc(4 * MIB, 'x')))
    const { host, hostname, port } = new URL(t.url)
    for (let n = 0; n <= MAX_UPLOADS_PER_OWNER; n++) {
      const socket = connect(Number(port), hostname)
      socket.write(
        `POST /api/projects/${shared.projectId}/source-maps HTTP/1.1\r\nhost: ${host}\r\n` +
          `authorization: Bearer ${shared.key}\r\ncontent-type: ${FORM_HEADERS['content-type']}\r\n` +
          `content-length: ${form.length}\r\n\r\n`,
      )
      socket.write(form.subarray(0, Math.floor(form.length * 0.99)))
      await waitFor('the file to arrive', () => scratch().length === 1)
      socket.destroy()
      await waitFor('the file to be removed', () => scratch().length === 0)
    }
    expect(await remains()).toEqual(before)
  })
})

describe('an archive', () => {
  const DEBUG_FILE = 'Acme.dSYM/Contents/Resources/DWARF/Acme'
  const one = (more: Partial<ZipEntry> = {}): Buffer => zipOfEntries([{ name: DEBUG_FILE, content: macho, ...more }])
  const noise = randomBytes(200_000)

  test.each<[string, Buffer, number, string]>([
    ['whose name leaves the folder', one({ name: '../../evil' }), 400, 'names that are not allowed'],
    ['with an absolute name', one({ name: '/etc/evil' }), 400, 'names that are not allowed'],
    ['with a drive', one({ name: 'C:/evil' }), 400, 'names that are not allowed'],
    ['with backslashes', one({ name: 'a\\..\\..\\evil' }), 400, 'names that are not allowed'],
    ['with a symbolic link', one({ name: 'link', content: '/etc/passwd', mode: 0o120777 }), 400, 'symbolic link'],
    ['that is encrypted', one({ flags: 1 }), 400, 'encrypted'],
    ['with a wrong checksum', one({ crc: 1 }), 400, 'checksum is wrong'],
    ['whose file is larger than it says', one({ size: 5 }), 400, 'damaged'],
    ['whose file is smaller than it says', one({ size: macho.length + 1 }), 400, 'damaged'],
    ['that claims 4 GiB', one({ size: 0xffff_fffe }), 413, 'unpacks to too much'],
    ['whose headers disagree', one({ localName: 'other' }), 400, 'does not agree'],
    ['in an archive', zipOf({ 'inner.zip': zipOf({ a: macho }) }), 400, 'no debug file'],
    ['of 300 MB of zeros', zipOf({ a: Buffer.alloc(300 * MIB) }), 413, 'unpacks to too much'],
    [
      'whose 500 files are one',
      zipOfEntries(Array.from({ length: 500 }, (_, n) => ({ name: '0', content: noise, ...(n > 0 ? { at: 0 } : {}) }))),
      400,
      'overlap',
    ],
    [
      'of 50,000 files',
      zipOfEntries(Array.from({ length: 50_000 }, (_, n) => ({ name: `${n}`, content: '' }))),
      413,
      '2,000 entries',
    ],
    ['that is cut', one().subarray(0, 500), 400, 'damaged'],
    ['without a debug file', zipOf({ 'a.txt': 'x' }), 400, 'The archive has no debug file. The file is no Mach-O'],
    ['without a file', zipOf({ 'Info.plist': 'x' }), 400, 'The archive is empty'],
  ])('%s is refused with a sentence, and nothing remains', async (_, zip, status, sentence) => {
    const before = await remains()
    const answer = await send('dsyms', formOf(filePart(zip, 'Acme.zip')))
    expect(answer).toEqual({ status, body: { error: expect.stringContaining(sentence) as unknown } })
    expect(await remains()).toEqual(before)
  })

  test('with one debug file among other files is taken', async () => {
    const answer = await send('dsyms', formOf(filePart(zipOf({ 'a.txt': 'x', [DEBUG_FILE]: macho }), 'Acme.zip')))
    expect(answer).toMatchObject({ status: 201, body: { files: [{ name: 'Acme' }] } })
  })
})

describe('a debug file', () => {
  const HEAD = 'MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF'
  test.each([
    [
      'of Breakpad for an unknown processor',
      'MODULE Linux a\0b 0123456789ABCDEF0123456789ABCDEF0 app\n',
      'no MODULE record',
    ],
    ['of no format', 'x'.repeat(1_000), 'no Mach-O, ELF or Breakpad file'],
    ['of Mach-O that is cut', macho.subarray(0, 100), 'damaged or was cut off'],
    ['of Mach-O with 10^5 architectures', Buffer.from('cafebabe000186a000000000', 'hex'), 'no Mach-O'],
  ])('%s is refused', async (_, content, sentence) => {
    const answer = await send('dsyms', formOf(filePart(content, 'app')))
    expect(answer).toEqual({ status: 400, body: { error: expect.stringContaining(sentence) as unknown } })
  })

  test.each(['constructor', '__proto__', 'toString'])('of Breakpad may name the processor %s', async (cpu) => {
    const content = `MODULE Linux ${cpu} 0123456789ABCDEF0123456789ABCDEF0 app\nFUNC 1 1 0 ${cpu}\n`
    expect(await send('dsyms', formOf(filePart(content, 'app.sym')))).toMatchObject({
      status: 201,
      body: { files: [{ cpu_name: cpu }] },
    })
  })

  test('of Breakpad with an age is found by its UUID, and a large one delays no other request', async () => {
    const content = Buffer.concat([Buffer.from(`${HEAD}1 app\n`), Buffer.alloc(60 * MIB, 'FUNC 1000 20 0 some name\n')])
    const form = formOf(filePart(content, 'app.sym'))
    const loop = watchLoop()
    const { status, body } = await send('dsyms', form)
    // The client of this test runs in the same thread.
    expect(loop.longestHoldMs()).toBeLessThan(300)
    loop.stop()
    expect(status).toBe(201)
    expect(body).toMatchObject({
      files: [{ uuid: '01234567-89ab-cdef-0123-456789abcdef', features: ['symtab', 'debug'] }],
    })
  })
})

describe('one file', () => {
  test('at the same time by five uploads is stored once', async () => {
    const by = await anUploader()
    const form = formOf(TYPE, RELEASE, filePart(MAP))
    const answers = await Promise.all(Array.from({ length: 5 }, () => send('source-maps', form, { by })))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 201])
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1)
    const { rows } = await t.app.db.query('select from symbol_files where project_id = $1', [by.projectId])
    expect(rows).toHaveLength(1)
  })

  test('that the organisation has already leaves no second content', async () => {
    const by = await anUploader()
    const form = formOf(TYPE, RELEASE, filePart(MAP.replace('a.ts', newId())))
    expect((await send('source-maps', form, { by })).status).toBe(201)
    const before = await remains()
    expect((await send('source-maps', form, { by })).status).toBe(200)
    expect(await remains()).toEqual(before)
    const other = { ...by, projectId: await insertProject(t.app, by.owner) }
    expect((await send('source-maps', form, { by: other })).status).toBe(201)
    expect(await remains()).toEqual({ ...before, files: (before.files ?? 0) + 1 })
  })
})

test('two files with one debug id: the newest that can be read is used', async () => {
  const by = await anUploader()
  const debugId = newId()
  const upload = async (content: string): Promise<string> =>
    String(
      (await send('source-maps', formOf(TYPE, fieldPart('debug_id', debugId), filePart(content)), { by })).body['id'],
    )
  const found = async (): Promise<string | undefined> => (await findByDebugId(t.app.db, by.projectId, [debugId]))[0]?.id
  const end = (id: string, state: string) =>
    t.app.db.query('update symbol_files set state = $2 where id = $1', [id, state])
  const first = await upload(MAP)
  const second = await upload(`${MAP} `)
  // At the same moment, the later id.
  expect(await found()).toBe(second)
  await end(first, 'ready')
  expect(await found()).toBe(first)
  await end(second, 'failed')
  expect(await found()).toBe(first)
  await end(second, 'ready')
  expect(await found()).toBe(second)
})

describe('the room of an organisation', () => {
  const COST = 16 * 1024
  /** Takes all but so many bytes. */
  async function almostFull(leftBytes: number): Promise<Uploader> {
    const by = await anUploader()
    await send('source-maps', formOf(TYPE, RELEASE, filePart(`${MAP} `)), { by })
    await t.app.db.query('update symbol_files set size_bytes = $2 where project_id = $1', [
      by.projectId,
      MAX_ORG_BYTES - leftBytes - COST,
    ])
    return by
  }
  const upload = (by: Uploader, content: string): Promise<Answer> =>
    send('source-maps', formOf(TYPE, RELEASE, filePart(content)), { by })

  test('is used to the last byte', async () => {
    const by = await almostFull(MAP.length + COST)
    expect((await upload(by, MAP)).status).toBe(201)
    const before = await remains()
    expect(await upload(by, `${MAP}\n`)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('take 20 GiB, the maximum') as unknown },
    })
    expect(await remains()).toEqual(before)
    // It takes no room again.
    expect((await upload(by, MAP)).status).toBe(200)
  })

  test('is not exceeded by two uploads at the same time, and is not another one’s', async () => {
    const by = await almostFull(MAP.length + COST)
    const answers = await Promise.all([
      upload(by, MAP),
      upload(by, MAP.replace('a', 'b')),
      upload(by, MAP.replace('a', 'c')),
    ])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409])
    expect((await upload(await anUploader(), MAP)).status).toBe(201)
  })
})

describe('files of others', () => {
  test('are not found: by project, by id, and by an event', async () => {
    const [mine, theirs] = [await anUploader(), await anUploader()]
    const debugId = newId()
    const { body } = await send('source-maps', formOf(TYPE, fieldPart('debug_id', debugId), filePart(MAP)), {
      by: theirs,
    })
    const id = String(body['id'])
    const call = async (method: string, path: string): Promise<number> => {
      const answer = await fetch(`${t.url}/api/projects/${path}`, {
        method,
        headers: { authorization: `Bearer ${mine.key}` },
      })
      await answer.arrayBuffer()
      return answer.status
    }
    expect(await call('GET', `${theirs.projectId}/source-maps`)).toBe(404)
    expect(await call('DELETE', `${theirs.projectId}/source-maps/${id}`)).toBe(404)
    expect(await call('DELETE', `${mine.projectId}/source-maps/${id}`)).toBe(404)
    expect(await call('DELETE', `${mine.projectId}/dsyms/${id}`)).toBe(404)
    expect(
      (
        await send('source-maps', formOf(TYPE, RELEASE, filePart(MAP)), {
          by: { ...mine, projectId: theirs.projectId },
        })
      ).status,
    ).toBe(404)
    // Not even in another project of the same organisation.
    const neighbour = await insertProject(t.app, theirs.owner)
    expect(await findByDebugId(t.app.db, theirs.projectId, [debugId])).toMatchObject([{ id }])
    expect(await findByDebugId(t.app.db, neighbour, [debugId])).toEqual([null])
    expect(await findByDebugId(t.app.db, mine.projectId, [debugId])).toEqual([null])
  })

  test('are not written with a key that only reads', async () => {
    const by = await anUploader(['releases:read'])
    expect((await send('source-maps', formOf(TYPE, RELEASE, filePart(MAP)), { by })).status).toBe(403)
  })
})

test('a file that cannot be written is refused for the moment', async () => {
  const form = formOf(TYPE, filePart(Buffer.alloc(MIB)))
  async function* content(): AsyncGenerator<Buffer> {
    for (let at = 0; at < form.length; at += 1_000) yield form.subarray(at, at + 1_000)
  }
  const upload = { contentType: FORM_HEADERS['content-type'], content: content() }
  await expect(readForm(upload, join(t.dataDir, 'nowhere'))).rejects.toMatchObject({ code: 'unavailable' })
})
