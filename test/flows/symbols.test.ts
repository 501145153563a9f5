import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { Event, Frame } from '#server/events/protocol/event.api.ts'
import type { MissingSymbols } from '#server/issues/missing-symbols/missing-symbols.api.ts'
import { renewTexts } from '#server/issues/recording/renew-texts.ts'
import { selectGroupTexts, updateGroupTexts } from '#server/issues/recording/renew-texts.queries.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import { indexWaitingFiles } from '#server/symbols/indexing/index-file-task.ts'
import type { Dsym, SourceMap } from '#server/symbols/uploads/uploads.api.ts'
import type { TestProject } from '#test/kit/founder.ts'
import { formOfFile } from '#test/kit/form-of-file.ts'
import type { Founder } from '#test/kit/product.ts'
import { readSamples, SAMPLE_KEY } from '#test/kit/samples.ts'
import { testServer } from '#test/kit/test-server.ts'
import { zipOf } from '#test/kit/zip.ts'

/** Files of symbols from the upload to readable issues: before an event arrives, and after it. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const ARTEFACTS = new URL('../fixtures/samples/artefacts/', import.meta.url)
const artefact = (name: string): Buffer => readFileSync(new URL(name, ARTEFACTS))
/** Bytes as characters, which the form turns back. */
const bytesOf = (name: string): string => artefact(name).toString('latin1')

let owner: Founder
let project: TestProject
beforeEach(async () => {
  owner = await t.founder()
  project = await t.project(owner)
})

async function upload<T>(
  kind: 'source-maps' | 'dsyms',
  filename: string,
  content: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: T & { readonly error?: string } }> {
  const { raw, headers } = formOfFile(filename, content, fields)
  const answer = await fetch(`${t.url}/api/projects/${project.id}/${kind}`, {
    method: 'POST',
    headers: { ...headers, cookie: [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    body: new Uint8Array(Buffer.from(raw, 'latin1')),
  })
  const body = (await answer.json()) as T & { readonly error?: string }
  return { status: answer.status, body }
}

async function indexed(): Promise<void> {
  const { org } = (await owner.get('/api/me')).as<{ org: { id: string } }>()
  await indexWaitingFiles(t.app, org.id, new AbortController().signal)
  // The app learns of the file by a message.
  await t.service.drain()
}

async function newestIssue(): Promise<IssueDetail> {
  const [issue] = await t.issues(owner, `projectId=${project.id}`)
  return detailOf(issue?.id ?? '')
}
const detailOf = async (issueId: string): Promise<IssueDetail> =>
  (await owner.get(`/api/issues/${issueId}`)).as<IssueDetail>()

const found = async (query: string): Promise<string[]> =>
  (await t.issues(owner, `projectId=${project.id}&q=${query}`)).map(({ id }) => id)

async function jobsFor(projectId: string): Promise<string[]> {
  const { rows } = await t.app.db.query<{ name: string }>(
    `select j.task_identifier as name from graphile_worker.jobs j where j.key = 'texts of ' || $1`,
    [projectId],
  )
  return rows.map(({ name }) => name)
}

const framesIn = ({ event }: IssueDetail): Frame[] => [...(event?.exceptions.at(-1)?.stacktrace?.frames ?? [])]
const placesIn = (issue: IssueDetail): string[] =>
  framesIn(issue).map(({ module, function: name, filename, lineno }) =>
    [module, name, filename, lineno].filter((one) => one !== null).join(' '),
  )

describe('a mapping of R8', () => {
  const UUID = 'bcc0ed9d-5b8f-5d9e-8f08-35edec4a0f10'
  const crash = (fields: Record<string, unknown> = {}) => ({
    platform: 'java',
    level: 'fatal',
    release: 'shop@1.0.0',
    exception: {
      values: [
        {
          type: 'IllegalStateException',
          module: 'java.lang',
          value: 'a.a.c is empty',
          mechanism: { type: 'UncaughtExceptionHandler', handled: false },
          stacktrace: {
            frames: [
              { module: 'android.os.Handler', function: 'dispatchMessage', lineno: 99, filename: 'Handler.java' },
              { module: 'a.a.b', function: 'b', lineno: 6, filename: 'SourceFile' },
            ],
          },
        },
      ],
    },
    ...fields,
  })

  test('makes frames and messages readable, with inlined calls, and names the issue', async () => {
    const { status, body } = await upload<SourceMap>('source-maps', 'mapping.txt', bytesOf('proguard-mapping.txt'), {
      symbolication_type: 'proguard',
      debug_id: UUID,
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({ state: 'indexing', debug_id: UUID, symbolication_type: 'proguard' })
    await indexed()
    await t.events(project, [crash({ debug_meta: { images: [{ type: 'proguard', uuid: UUID }] } })])
    const issue = await newestIssue()
    expect(issue.title).toBe('IllegalStateException: com.acme.shop.CartRepository is empty')
    expect(issue.culprit).toBe('CartViewModel.total')
    expect(placesIn(issue)).toEqual([
      'android.os.Handler dispatchMessage Handler.java 99',
      'com.acme.shop.CartViewModel checkout CartViewModel.java 37',
      'com.acme.shop.CartViewModel total CartViewModel.java 22',
    ])
    expect(framesIn(issue).at(-1)).toMatchObject({
      in_app: true,
      is_inlined: true,
      raw: { module: 'a.a.b', function: 'b', lineno: 6 },
    })
  })

  test('is found by the release of the event, too', async () => {
    await upload<SourceMap>('source-maps', 'mapping.txt', bytesOf('proguard-mapping.txt'), {
      symbolication_type: 'proguard',
      release: 'shop@1.0.0',
    })
    await indexed()
    await t.events(project, [crash()])
    expect((await newestIssue()).culprit).toBe('CartViewModel.total')
  })

  test('that is missing is said on each frame, and one that arrives later makes the old event readable', async () => {
    await t.events(project, [crash({ debug_meta: { images: [{ type: 'proguard', uuid: UUID }] } })])
    const before = await newestIssue()
    const worklist = (await owner.get(`/api/projects/${project.id}/missing-symbols`)).as<MissingSymbols>()
    expect(worklist).toMatchObject({
      looked_at: 1,
      unreadable: 1,
      items: [{ kind: 'mapping', debug_id: UUID, release: 'shop@1.0.0', events: 1, issues: 1, issue_ids: [before.id] }],
    })
    expect(worklist.items[0]?.command).toContain(`--uuid ${UUID}`)
    expect(framesIn(before).map(({ unreadable }) => unreadable)).toEqual([undefined, 'missing_file'])
    const { body } = await upload<SourceMap>('source-maps', 'mapping.txt', bytesOf('proguard-mapping.txt'), {
      symbolication_type: 'proguard',
      debug_id: UUID,
    })
    await indexed()
    const after = await detailOf(before.id)
    expect((await owner.get(`/api/projects/${project.id}/missing-symbols`)).body).toMatchObject({
      items: [],
      unreadable: 0,
      used: [{ file_id: body.id, events: 1 }],
    })
    expect(placesIn(after).at(-1)).toBe('com.acme.shop.CartViewModel total CartViewModel.java 22')
    expect(after.event?.title).toBe('IllegalStateException: com.acme.shop.CartRepository is empty')
    expect(await jobsFor(project.id)).toEqual(['renew-issue-texts'])
  })

  test('that arrives later renews the texts of issues and what they are found by', async () => {
    const debug_meta = { images: [{ type: 'proguard', uuid: UUID }] }
    await t.events(project, [crash({ debug_meta })])
    const before = await newestIssue()
    expect(before).toMatchObject({ title: 'IllegalStateException: a.a.c is empty', culprit: 'b in SourceFile' })
    expect(await found('CartRepository')).toEqual([])
    await upload<SourceMap>('source-maps', 'mapping.txt', bytesOf('proguard-mapping.txt'), {
      symbolication_type: 'proguard',
      debug_id: UUID,
    })
    await indexed()
    expect(await renewTexts(t.app, project.id)).toBe(1)
    const after = await newestIssue()
    expect(after).toMatchObject({
      id: before.id,
      title: 'IllegalStateException: com.acme.shop.CartRepository is empty',
      culprit: 'CartViewModel.total',
      event_count: 1,
    })
    expect(await found('CartRepository')).toEqual([before.id])
    expect(await found('checkout')).toEqual([before.id])
    expect(await renewTexts(t.app, project.id)).toBe(0)
  })

  test('that arrives later leaves the title of a rule, and the texts of events that came meanwhile', async () => {
    const rules = {
      fingerprint: [{ match: [{ key: 'type', glob: 'Illegal*' }], fingerprint: ['cart'], title: 'Cart' }],
      stack: [],
    }
    expect((await owner.patch(`/api/projects/${project.id}/settings`, { grouping_rules: rules })).status).toBe(200)
    const debug_meta = { images: [{ type: 'proguard', uuid: UUID }] }
    await t.events(project, [crash({ debug_meta })])
    const group = (await selectGroupTexts(t.app.db, [(await newestIssue()).id]))[0]
    await upload<SourceMap>('source-maps', 'mapping.txt', bytesOf('proguard-mapping.txt'), {
      symbolication_type: 'proguard',
      debug_id: UUID,
    })
    await indexed()
    expect(await renewTexts(t.app, project.id)).toBe(1)
    expect(await newestIssue()).toMatchObject({ title: 'Cart', culprit: 'CartViewModel.total' })
    await t.events(project, [crash({ debug_meta, transaction: 'Checkout' })])
    if (group === undefined) throw new Error('the issue has no group')
    const late = await t.app.tx((tx) => updateGroupTexts(tx, [{ ...group, title: 'Late' }]))
    expect([...late]).toEqual([])
    expect(await newestIssue()).toMatchObject({ title: 'Cart' })
  })
})

describe('a file of another build', () => {
  test('of a mapping is not used, and the frame says so', async () => {
    await upload<SourceMap>('source-maps', 'mapping.txt', bytesOf('proguard-mapping.txt'), {
      symbolication_type: 'proguard',
      release: 'shop@1.0.0',
      debug_id: 'bcc0ed9d-5b8f-5d9e-8f08-35edec4a0f10',
    })
    await indexed()
    const frames = [{ module: 'a.a.b', function: 'b', lineno: 6, filename: 'SourceFile' }]
    await t.events(project, [
      {
        platform: 'java',
        release: 'shop@1.0.0',
        exception: { values: [{ type: 'IllegalStateException', value: 'empty', stacktrace: { frames } }] },
        debug_meta: { images: [{ type: 'proguard', uuid: 'aaaaaaaa-5b8f-5d9e-8f08-35edec4a0f10' }] },
      },
    ])
    expect(framesIn(await newestIssue())).toMatchObject([{ function: 'b', unreadable: 'wrong_build' }])
  })

  test('of a source map is not used, and the frame says so', async () => {
    const debugIds = ['6f1c2ab0-0000-4000-8000-000000000001', '6f1c2ab0-0000-4000-8000-000000000002']
    await upload<SourceMap>('source-maps', 'app.min.js.map', bytesOf('app.min.js.map'), {
      symbolication_type: 'js_source_map',
      release: 'web@1.0.0',
      filename: '~/app.min.js',
      debug_id: debugIds[0] ?? '',
    })
    await indexed()
    const abs_path = 'https://cdn.example.com/app.min.js'
    const frames = [{ function: 'n', filename: abs_path, abs_path, lineno: 1, colno: 40, in_app: true }]
    const crash = (debugId: string | undefined) => ({
      platform: 'javascript',
      release: 'web@1.0.0',
      exception: { values: [{ type: 'TypeError', value: 'x is undefined', stacktrace: { frames } }] },
      ...(debugId === undefined
        ? {}
        : { debug_meta: { images: [{ type: 'sourcemap', code_file: abs_path, debug_id: debugId }] } }),
    })
    await t.events(project, [crash(debugIds[1])])
    expect(framesIn(await newestIssue())).toMatchObject([{ function: 'n', unreadable: 'wrong_build' }])
    // Code without debug ids is found by release and address, also when its map has one.
    await t.events(project, [crash(undefined)])
    expect(framesIn(await newestIssue())[0]?.raw).toMatchObject({ function: 'n' })
  })

  test('of a debug file is named by the worklist', async () => {
    await upload<{ files: Dsym[] }>('dsyms', 'libgame.so', bytesOf('libgame.so'))
    await indexed()
    const image = (debug_id: string, code_file: string, image_addr: string) => ({
      type: 'elf',
      debug_id,
      code_file,
      image_addr,
      image_size: 4096,
    })
    const frames = ['0x1010', '0x9010'].map((instruction_addr) => ({ instruction_addr, in_app: true }))
    await t.events(project, [
      {
        platform: 'native',
        exception: { values: [{ type: 'SIGSEGV', value: 'crash', stacktrace: { frames } }] },
        debug_meta: {
          images: [
            image('aaaaaaaa-0c96-92d5-cd45-1f9874e73dd7', '/data/app/shop/lib/arm64/libgame.so', '0x1000'),
            image('bbbbbbbb-0c96-92d5-cd45-1f9874e73dd7', '/data/app/shop/lib/arm64/libother.so', '0x9000'),
          ],
        },
      },
    ])
    expect(framesIn(await newestIssue()).map(({ unreadable }) => unreadable)).toEqual(['wrong_build', 'missing_file'])
    const { items } = (await owner.get(`/api/projects/${project.id}/missing-symbols`)).as<MissingSymbols>()
    expect(items.map(({ name, reason }) => [name, reason])).toEqual([
      ['libgame.so', 'wrong_build'],
      ['libother.so', 'missing_file'],
    ])
  })
})

describe('a source map', () => {
  const MAP = artefact('app.min.js.map').toString()
  const crash = (absPath: string, fields: Record<string, unknown> = {}) => ({
    platform: 'javascript',
    release: 'web@1.0.0',
    exception: {
      values: [
        {
          type: 'TypeError',
          value: 'x is undefined',
          stacktrace: {
            frames: [{ function: 'n', filename: absPath, abs_path: absPath, lineno: 1, colno: 40, in_app: true }],
          },
        },
      ],
    },
    ...fields,
  })

  test.each([
    ['https://cdn.example.com/static/app.min.js?v=3', '~/static/app.min.js'],
    ['https://cdn.example.com/static/app.min.js', 'https://other.example.com/static/app.min.js.map'],
    ['app:///main/app.min.js', 'app.min.js.map'],
    ['https://cdn.example.com/p/%5Bslug%5D-1.js', '~/p/[slug]-1.js'],
  ])('of %s is found by release and the name %s', async (absPath, filename) => {
    const { status, body } = await upload<SourceMap>('source-maps', 'app.min.js.map', MAP, {
      symbolication_type: 'js_source_map',
      release: 'web@1.0.0',
      filename,
    })
    expect(status, JSON.stringify(body)).toBe(201)
    await indexed()
    await t.events(project, [crash(absPath)])
    const [frame] = framesIn(await newestIssue())
    expect(frame?.filename).toMatch(/\.(?:js|ts)$/)
    expect(frame).toMatchObject({ raw: { abs_path: absPath, lineno: 1, colno: 40 } })
    expect(frame?.context_line).not.toBe('')
  })

  test('is found by its debug id, whatever the release', async () => {
    const debugId = '6f1c2ab0-0000-4000-8000-000000000001'
    const map = JSON.stringify({ ...(JSON.parse(MAP) as object), debug_id: debugId })
    const { body } = await upload<SourceMap>('source-maps', 'app.min.js.map', map, {
      symbolication_type: 'js_source_map',
    })
    expect(body).toMatchObject({ debug_id: debugId, release: null })
    await indexed()
    const absPath = 'https://cdn.example.com/x.js'
    const debug_meta = { images: [{ type: 'sourcemap', code_file: absPath, debug_id: debugId }] }
    await t.events(project, [crash(absPath, { debug_meta, release: 'web@9.9.9' })])
    expect(framesIn(await newestIssue())[0]).toMatchObject({ raw: { abs_path: absPath } })
  })

  test('that is missing is said on every frame of a file with one that looks generated', async () => {
    const frameAt = (abs_path: string, colno: number) => ({ abs_path, filename: abs_path, lineno: 1, colno })
    const frames = [frameAt('/assets/cart-1.js', 900), frameAt('/assets/cart-1.js', 40), frameAt('/src/own.js', 40)]
    await t.events(project, [{ exception: { values: [{ type: 'TypeError', value: 'x', stacktrace: { frames } }] } }])
    expect(framesIn(await newestIssue()).map(({ unreadable }) => unreadable)).toEqual([
      'missing_file',
      'missing_file',
      undefined,
    ])
  })

  test('that is no map fails with a reason, and the frame says so', async () => {
    await upload<SourceMap>('source-maps', 'app.min.js.map', '<!doctype html><title>404</title>', {
      symbolication_type: 'js_source_map',
      release: 'web@1.0.0',
      filename: '~/app.min.js',
    })
    await indexed()
    const { items } = (await owner.get(`/api/projects/${project.id}/source-maps`)).as<{ items: SourceMap[] }>()
    expect(items).toMatchObject([{ state: 'failed' }])
    expect(items[0]?.problem).toMatch(/HTML/)
    await t.events(project, [crash('https://cdn.example.com/app.min.js')])
    expect(framesIn(await newestIssue())[0]).toMatchObject({ unreadable: 'broken_file' })
  })

  test('twice is one file; without release and debug id it is refused; of another member it is not deleted', async () => {
    const fields = { symbolication_type: 'js_source_map', release: 'web@1.0.0', filename: '~/app.min.js' }
    const first = await upload<SourceMap>('source-maps', 'app.min.js.map', MAP, fields)
    const second = await upload<SourceMap>('source-maps', 'app.min.js.map', MAP, fields)
    expect([first.status, second.status]).toEqual([201, 200])
    expect(second.body.id).toBe(first.body.id)
    const { symbolication_type } = fields
    expect(await upload('source-maps', 'a.map', MAP, { symbolication_type })).toMatchObject({
      status: 400,
      body: { error: 'Send release: this source map has no debug id.' },
    })
    expect(await upload('source-maps', 'a.map', MAP, { ...fields, symbolication_type: 'wasm' })).toMatchObject({
      status: 400,
      body: { error: 'symbolication_type must be js_source_map or proguard.' },
    })
    expect((await owner.delete(`/api/projects/${project.id}/source-maps/${first.body.id}`)).status).toBe(204)
    expect((await owner.delete(`/api/projects/${project.id}/source-maps/${first.body.id}`)).status).toBe(404)
  })
})

describe('an obfuscation map of Dart', () => {
  const DEBUG_ID = '47e097d5-0c96-92d5-cd45-1f9874e73dd7'
  const MAP = JSON.stringify(['PaymentError', 'aB', 'Cart', 'c'])
  const crash = {
    platform: 'other',
    sdk: { name: 'sentry.dart.flutter', version: '9.6.0' },
    release: 'shop@1.0.0',
    exception: { values: [{ type: 'aB', value: "Instance of 'aB<c>'" }] },
    debug_meta: { images: [{ type: 'elf', debug_id: DEBUG_ID, image_addr: '0x1000', code_file: 'libapp.so' }] },
  }

  test('names exceptions, with the debug id of the app', async () => {
    expect(await upload('dsyms', 'map.json', MAP)).toMatchObject({
      status: 400,
      body: { error: 'Send debug_id with an obfuscation map of Dart: the debug id of the app’s debug file.' },
    })
    const { status, body } = await upload<{ files: Dsym[] }>('dsyms', 'map.json', MAP, { debug_id: DEBUG_ID })
    expect(status).toBe(201)
    expect(body.files).toMatchObject([{ kind: 'dart_symbol_map', uuid: DEBUG_ID, state: 'indexing' }])
    await indexed()
    // The debug file has the same debug id.
    await upload<{ files: Dsym[] }>('dsyms', 'libapp.so', bytesOf('libgame.so'))
    await indexed()
    await t.events(project, [crash])
    expect(await newestIssue()).toMatchObject({ title: "PaymentError: Instance of 'PaymentError<Cart>'" })
    const { items } = (await owner.get(`/api/projects/${project.id}/dsyms`)).as<{ items: Dsym[] }>()
    expect(items.map(({ kind, state }) => [kind, state])).toEqual([
      ['elf', 'ready'],
      ['dart_symbol_map', 'ready'],
    ])
  })
})

describe('a debug file', () => {
  test('of a dSYM in a zip is listed with its UUID', async () => {
    const zip = zipOf({
      'Acme.app.dSYM/Contents/Info.plist': '<plist/>',
      'Acme.app.dSYM/Contents/Resources/DWARF/Acme': artefact('Acme.dSYM-DWARF.macho'),
    })
    const { status, body } = await upload<{ files: Dsym[] }>('dsyms', 'Acme.dSYM.zip', zip.toString('latin1'))
    expect(status, JSON.stringify(body)).toBe(201)
    expect(body.files).toMatchObject([
      { kind: 'macho', name: 'Acme', uuid: '4c4c44ac-5555-3144-a154-d2d28fc21b39', cpu_name: 'arm64' },
    ])
  })

  test('of ELF makes a recorded crash readable', async () => {
    const { status, body } = await upload<{ files: Dsym[] }>('dsyms', 'libgame.so', bytesOf('libgame.so'))
    expect(status, JSON.stringify(body)).toBe(201)
    const [file] = body.files
    expect(file).toMatchObject({ kind: 'elf', uuid: '47e097d5-0c96-92d5-cd45-1f9874e73dd7' })
    await indexed()
    await t.app.db.query('update projects set number = 4501 where id = $1', [project.id])
    await t.app.db.query('update project_keys set public_key = $2 where project_id = $1', [project.id, SAMPLE_KEY])
    for (const { name, url, method, headers, body: bytes } of readSamples(/\/envelope\//)) {
      if (!name.startsWith('native-0.16.3/004')) continue
      const answer = await fetch(t.url + url, { method, headers, body: new Uint8Array(bytes) })
      expect(answer.status).toBe(200)
      await answer.arrayBuffer()
    }
    await t.service.drain()
    const { event } = await newestIssue()
    expect(gameFrames(event)).toEqual([
      'game_loop game.c:8',
      'render_frame game.c:3',
      'render_frame game.c:3',
      'render_frame game.c:3',
      'render_frame game.c:4',
      'crash_here game.c:1',
    ])
  })
})

const gameFrames = (event: z.infer<typeof Event> | null): string[] =>
  (event?.exceptions.at(-1)?.stacktrace?.frames ?? [])
    .filter(({ package: image }) => image?.endsWith('libgame.so') === true)
    .map(({ function: name, filename, lineno }) => `${name} ${filename}:${lineno}`)
