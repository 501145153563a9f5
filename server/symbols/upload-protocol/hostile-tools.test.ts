import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createKey } from '#server/identity/api-keys/create-key.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { filePart, FORM_HEADERS, formOf } from '#test/kit/raw-form.ts'
import { insertProject } from '#test/kit/route-examples.ts'
import { testServer } from '#test/kit/test-server.ts'
import { sourceMapBundle, zipOf } from '#test/kit/zip.ts'

/** Calls of upload tools as a hostile or broken tool makes them. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const macho = readFileSync(new URL('../../../test/fixtures/samples/artefacts/Acme.dSYM-DWARF.macho', import.meta.url))
const MIB = 1024 * 1024

type Tool = { readonly owner: Person; readonly projectId: string; readonly key: string }
async function aTool(): Promise<Tool> {
  const owner = await aPerson(t.app)
  const projectId = await insertProject(t.app, owner)
  const scopes = ['uploads:write', 'releases:read', 'projects:read'] as const
  return { owner, projectId, key: (await createKey(t.app, owner.actor, { name: 'CI', scopes: [...scopes] })).key }
}
const shared = await aTool()

const sha1 = (content: string | Buffer): string => createHash('sha1').update(content).digest('hex')

type Answer = { readonly status: number; readonly body: unknown }
async function call(
  by: Tool,
  method: string,
  path: string,
  body?: Buffer,
  headers?: Record<string, string>,
): Promise<Answer> {
  const answer = await fetch(`${t.url}/api/0/${path}`, {
    method,
    headers: { authorization: `Bearer ${by.key}`, ...headers },
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  })
  return { status: answer.status, body: await answer.json() }
}
const postJson = (by: Tool, path: string, body: unknown): Promise<Answer> =>
  call(by, 'POST', path, Buffer.from(JSON.stringify(body)), { 'content-type': 'application/json' })

const sendChunks = (form: Buffer, by = shared): Promise<Answer> =>
  call(by, 'POST', `organizations/${by.owner.orgSlug}/chunk-upload/`, form, FORM_HEADERS)
const assembleBundle = (body: Record<string, unknown>, by = shared): Promise<Answer> =>
  postJson(by, `organizations/${by.owner.orgSlug}/artifactbundle/assemble/`, { projects: [by.projectId], ...body })
const assembleDif = async (name: string, content: string | Buffer, by = shared): Promise<unknown> => {
  const checksum = sha1(content)
  await sendChunks(formOf(filePart(content, checksum)), by)
  const path = `projects/${by.owner.orgSlug}/${by.projectId}/files/difs/assemble/`
  const { status, body } = await postJson(by, path, { [checksum]: { name, chunks: [checksum] } })
  return status === 200 ? Object.values(body as object)[0] : { status, body }
}

/** Rows and files that calls may leave behind when they fail. */
async function remains() {
  const { rows } = await t.app.db.query<{ chunks: number; blobs: number }>(
    'select (select count(*)::int from upload_chunks) as chunks, (select count(*)::int from blobs) as blobs',
  )
  const folder = join(t.dataDir, 'uploads')
  return { ...rows[0], scratch: existsSync(folder) ? readdirSync(folder) : [] }
}

describe('a chunk', () => {
  const zeros = Buffer.alloc(30 * MIB)
  test.each<[string, Buffer, number, string]>([
    ['whose name is no digest', formOf(filePart('abc', 'nope')), 400, 'must be the SHA-1'],
    ['with another digest', formOf(filePart('abc', sha1('abd'))), 400, 'has another SHA-1'],
    [
      'that unpacks to a thousand times its size',
      formOf(filePart(gzipSync(zeros), sha1(zeros), 'file_gzip')),
      413,
      '8 MiB',
    ],
    ['that is not compressed', formOf(filePart('abc', sha1('abc'), 'file_gzip')), 400, 'not compressed as gzip'],
    [
      'whose compression is cut',
      formOf(filePart(gzipSync(randomBytes(5_000)).subarray(0, 2_000), sha1('abc'), 'file_gzip')),
      400,
      'not compressed as gzip',
    ],
    ['beside 64 others', formOf(...Array<Buffer>(65).fill(filePart('abc', sha1('abc')))), 400, 'at most 64 files'],
  ])('%s is refused, and nothing of it remains', async (_, form, status, sentence) => {
    const before = await remains()
    expect(await sendChunks(form)).toEqual({ status, body: { error: expect.stringContaining(sentence) as unknown } })
    expect(await remains()).toEqual(before)
  })

  test('that the organisation has already leaves no second content', async () => {
    const form = formOf(filePart('a chunk', sha1('a chunk')))
    expect((await sendChunks(form)).status).toBe(200)
    const before = await remains()
    expect((await sendChunks(form)).status).toBe(200)
    expect(await remains()).toEqual(before)
  })

  test('after very many small ones is refused until they are gone', async () => {
    const by = await aTool()
    await t.app.db.query(
      `insert into upload_chunks (id, org_id, sha1, size_bytes, created_at)
       select gen_random_uuid(), $1, sha224(n::text::bytea), 1, $2 from generate_series(1, 65537) n`,
      [by.owner.actor.orgId, t.clock.now()],
    )
    const answer = await sendChunks(formOf(filePart('one more', sha1('one more'))), by)
    expect(answer).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('Too many pieces') as unknown },
    })
  })
})

describe('putting together', () => {
  test('names the chunks that are missing, also those of another organisation', async () => {
    const [mine, theirs] = [sha1('mine'), sha1('theirs')]
    await sendChunks(formOf(filePart('mine', mine)))
    await sendChunks(formOf(filePart('theirs', theirs)), await aTool())
    expect(await assembleBundle({ checksum: sha1('x'), chunks: [mine, theirs, theirs] })).toMatchObject({
      status: 200,
      body: { state: 'not_found', missingChunks: [theirs] },
    })
  })

  test.each([
    ['of another checksum', { checksum: sha1('other') }, 'has another SHA-1'],
    ['that is no bundle', {}, 'no bundle of source maps'],
  ])('a file %s is an error', async (_, change, sentence) => {
    const chunk = sha1('no bundle')
    await sendChunks(formOf(filePart('no bundle', chunk)))
    expect(await assembleBundle({ checksum: chunk, chunks: [chunk], ...change })).toMatchObject({
      status: 200,
      body: { state: 'error', detail: expect.stringContaining(sentence) as unknown },
    })
    expect((await remains()).scratch).toEqual([])
  })

  test('refuses 10,000 chunks, names with NUL and projects of others', async () => {
    const chunk = sha1('x')
    expect((await assembleBundle({ checksum: chunk, chunks: Array(10_000).fill(chunk) })).status).toBe(400)
    expect((await assembleBundle({ checksum: chunk, chunks: [chunk], dist: 'a\0b' })).status).toBe(400)
    expect((await assembleBundle({ checksum: chunk, chunks: [chunk], projects: ['a\0b'] })).status).toBe(400)
    const { projectId } = await aTool()
    expect((await assembleBundle({ checksum: chunk, chunks: [chunk], projects: [projectId] })).status).toBe(404)
    for (const path of [
      `organizations/a%00b/chunk-upload/`,
      `projects/${shared.owner.orgSlug}/a%00b/`,
      `organizations/${shared.owner.orgSlug}/releases/a%00b/`,
    ])
      expect(await call(shared, 'GET', path)).toMatchObject({ status: 404 })
  })

  test('of one bundle by several clients at once stores its files once', async () => {
    const by = await aTool()
    const bundle = sourceMapBundle()
    const checksum = sha1(bundle)
    await sendChunks(formOf(filePart(bundle, checksum)), by)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => assembleBundle({ checksum, chunks: [checksum] }, by)),
    )
    expect(answers.map(({ body }) => body)).toEqual(Array(5).fill({ state: 'ok', missingChunks: [], detail: null }))
    const { rows } = await t.app.db.query('select from symbol_files where project_id = $1', [by.projectId])
    expect(rows).toHaveLength(1)
  })

  test('of more files at once than may wait is refused for the moment', async () => {
    const by = await aTool()
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => assembleBundle({ checksum: sha1('x'), chunks: [sha1('x')] }, by)),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect((await assembleBundle({ checksum: sha1('x'), chunks: [sha1('x')] }, by)).status).toBe(200)
  })
})

describe('a bundle', () => {
  const MAP = '{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA"}'
  const manifest = (files: unknown): string => JSON.stringify({ files })
  const aFile = (more: object = {}) => ({ type: 'source_map', url: '~/a.js.map', headers: {}, ...more })

  test.each<[string, Record<string, string | Buffer>, string]>([
    ['without manifest', { 'a.map': MAP }, 'no manifest.json'],
    ['whose manifest is cut', { 'manifest.json': '{"files":{' }, 'cannot be read'],
    ['whose manifest is a list', { 'manifest.json': '[]' }, 'cannot be read'],
    ['whose manifest is deep', { 'manifest.json': `{"files":${'['.repeat(500_000)}` }, 'cannot be read'],
    [
      'whose manifest has very many files',
      {
        'manifest.json': manifest(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [n, aFile()]))),
        noise: randomBytes(100_000),
      },
      'cannot be read',
    ],
    [
      'whose manifest is large',
      { noise: randomBytes(100_000), 'manifest.json': `${' '.repeat(3 * MIB)}{}` },
      'no manifest.json',
    ],
    ['whose maps are not in it', { 'manifest.json': manifest({ '../a.map': aFile() }) }, 'no source map'],
    [
      'without maps',
      { 'manifest.json': manifest({ __proto__: aFile(), 'a.map': aFile({ type: 'x' }) }) },
      'no source map',
    ],
  ])('%s is an error', async (_, files, sentence) => {
    const bundle = Buffer.concat([Buffer.from('SYSB\u0002\0\0\0', 'latin1'), zipOf(files)])
    const checksum = sha1(bundle)
    await sendChunks(formOf(filePart(bundle, checksum)))
    const { status, body } = await assembleBundle({ checksum, chunks: [checksum], version: 'web@1.0.0' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ state: 'error', detail: expect.stringContaining(sentence) as unknown })
    expect((await remains()).scratch).toEqual([])
  })

  test('may have any address and any names of headers', async () => {
    const debugId = newId()
    const files = {
      'a.map': aFile({ url: '~/a\0b.js.map', headers: { __proto__: 'x', 'Debug-Id': debugId, 'debug-ID': 'x' } }),
    }
    const bundle = Buffer.concat([
      Buffer.from('SYSB\u0002\0\0\0', 'latin1'),
      zipOf({ 'manifest.json': manifest(files), 'a.map': MAP }),
    ])
    const checksum = sha1(bundle)
    await sendChunks(formOf(filePart(bundle, checksum)))
    expect((await assembleBundle({ checksum, chunks: [checksum] })).body).toMatchObject({ state: 'ok' })
    const { rows } = await t.app.db.query('select url from symbol_files where debug_id = $1', [debugId])
    expect(rows).toEqual([{ url: null }])
  })
})

describe('a debug file', () => {
  test.each([
    ['of no format', 'app', 'x', 'no Mach-O, ELF or Breakpad file'],
    ['that is a mapping without UUID', 'proguard/------------------------------------.txt', 'x', 'proguard/<UUID>.txt'],
    ['with a NUL in its head', 'app.sym', 'MODULE Linux x\0 0123456789ABCDEF0123456789ABCDEF0 a\n', 'no MODULE record'],
  ])('%s is an error', async (_, name, content, sentence) => {
    expect(await assembleDif(name, content)).toMatchObject({
      state: 'error',
      detail: expect.stringContaining(sentence) as unknown,
    })
  })

  test('of a zip of an old tool is taken beside other files', async () => {
    const { owner, projectId } = shared
    const path = `projects/${owner.orgSlug}/${projectId}/files/dsyms/`
    const post = (zip: Buffer): Promise<Answer> =>
      call(shared, 'POST', path, formOf(filePart(zip, 'a.zip')), FORM_HEADERS)
    expect(await post(zipOf({ a: macho, 'README.txt': 'x' }))).toMatchObject({
      status: 201,
      body: [{ objectName: 'a' }],
    })
    expect(await post(zipOf({ 'README.txt': 'x' }))).toMatchObject({ status: 400 })
  })
})
