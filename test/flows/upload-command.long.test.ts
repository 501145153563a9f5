import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import type { Dsym, SourceMap } from '#server/symbols/uploads/uploads.api.ts'
import { adminCommand, type CommandResult } from '#test/kit/admin-command.ts'
import { selfSigned } from '#test/kit/certificates.ts'
import type { TestProject } from '#test/kit/founder.ts'
import type { Founder } from '#test/kit/product.ts'
import { type Answer, startReceiver } from '#test/kit/receiver.ts'
import { testServer } from '#test/kit/test-server.ts'
import { zipOf } from '#test/kit/zip.ts'

/** `faultline upload` as a process of its own, against the running service and its index jobs. */

const t = await testServer({ realTime: true, jobs: true, env: { RATE_LIMIT_SCALE: '0' } })
const FIXTURES = new URL('../fixtures/', import.meta.url)
const fixture = (name: string): Buffer => readFileSync(new URL(name, FIXTURES))
const MAP = fixture('samples/artefacts/app.min.js.map')
const MAPPING = fixture('samples/artefacts/proguard-mapping.txt')
const MACHO = fixture('samples/artefacts/Acme.dSYM-DWARF.macho')
const MACHO_ID = '4c4c44ac-5555-3144-a154-d2d28fc21b39'
const ELF = fixture('samples/artefacts/libacme.so')
const DEBUG_ID = '6f1c2ab0-0000-4000-8000-00000000000a'

const folders = mkdtempSync(join(tmpdir(), 'faultline-upload-'))
const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  rmSync(folders, { recursive: true, force: true })
  for (const close of closers) await close()
})

/** A folder with these files. */
function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(folders, 'f-'))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

let owner: Founder
let project: TestProject
let token: string

async function keyWith(scopes: readonly string[]): Promise<string> {
  const answer = await owner.post('/api/api-keys', { name: 'CI', scopes })
  return answer.as<{ key: string }>().key
}

beforeAll(async () => {
  owner = await t.founder()
  project = await t.project(owner)
  token = await keyWith(['uploads:write', 'releases:read', 'projects:read'])
})

const settings = () => ({ FAULTLINE_URL: t.url, FAULTLINE_TOKEN: token, FAULTLINE_PROJECT: project.slug })

/** The folder is left out of the lines, and those of standard error are the last. */
async function upload(
  words: readonly string[],
  folder = folders,
  env: Readonly<Record<string, string>> = settings(),
  input = '',
): Promise<CommandResult> {
  const { code, lines } = await adminCommand(['upload', ...words], env, input)
  const text = lines.join('\n')
  for (const secret of [token, env['FAULTLINE_TOKEN'] ?? '']) if (secret !== '') expect(text).not.toContain(secret)
  const isError = (line: string): boolean => line.startsWith('faultline: ')
  const said = text.replaceAll(`${folder}/`, '').split('\n')
  return { code, lines: [...said.filter((line) => !isError(line)), ...said.filter(isError)] }
}

const maps = async (release: string): Promise<SourceMap[]> =>
  (await owner.get(`/api/projects/${project.id}/source-maps?limit=100&release=${encodeURIComponent(release)}`)).as<{
    items: SourceMap[]
  }>().items
const dsyms = async (debugId: string): Promise<Dsym[]> =>
  (await owner.get(`/api/projects/${project.id}/dsyms?debug_id=${debugId}`)).as<{ items: Dsym[] }>().items

describe('source maps', () => {
  test('of a folder are found with their code, and make an event readable', async () => {
    const release = 'web@1.0.0'
    const folder = folderOf({
      'js/app.min.js': fixture('samples/artefacts/app.min.js'),
      'js/app.min.js.map': MAP,
      'js/admin.js': `f()\n//# sourceMappingURL=../maps/admin-1.map?x=1\n//# debugId=${DEBUG_ID.toUpperCase()}\n`,
      'maps/admin-1.map': MAP,
      'style.css.map': '{}',
      'index.d.ts.map': '{}',
      'notes.txt': 'no map',
      'node_modules/x/x.js.map': 'no map either',
    })
    const words = ['sourcemaps', folder, '--release', release, '--dist', '7', '--url-prefix', '~/static', '--wait']
    const dry = await upload([...words, '--dry-run'], folder, {})
    expect(dry).toEqual({
      code: 0,
      lines: [
        'js/app.min.js.map  ~/static/js/app.min.js: would be sent',
        `maps/admin-1.map  ~/static/js/admin.js  ${DEBUG_ID}: would be sent`,
      ],
    })
    expect(await maps(release)).toEqual([])
    const { code, lines } = await upload(words, folder)
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [
        'js/app.min.js.map  ~/static/js/app.min.js: stored, 864 bytes',
        `maps/admin-1.map  ~/static/js/admin.js  ${DEBUG_ID}: stored, 864 bytes`,
        '2 files stored',
        'js/app.min.js.map: ready',
        'maps/admin-1.map: ready',
      ],
    })
    expect((await maps(release)).toReversed()).toMatchObject([
      { filename: '~/static/js/app.min.js', debug_id: null, dist: '7', state: 'ready' },
      { filename: '~/static/js/admin.js', debug_id: DEBUG_ID, dist: '7', state: 'ready' },
    ])
    expect(await upload(words.slice(0, -1), folder)).toMatchObject({
      code: 0,
      lines: [
        'js/app.min.js.map  ~/static/js/app.min.js: already there',
        `maps/admin-1.map  ~/static/js/admin.js  ${DEBUG_ID}: already there`,
        '0 files stored, 2 already there',
      ],
    })

    const abs_path = 'https://shop.example.com/static/js/app.min.js?v=3'
    const frames = [{ function: 'n', filename: abs_path, abs_path, lineno: 1, colno: 40, in_app: true }]
    const exception = { values: [{ type: 'TypeError', value: 'x', stacktrace: { frames } }] }
    await t.events(project, [{ platform: 'javascript', release, dist: '7', exception }])
    const [issue] = await t.issues(owner, `projectId=${project.id}`)
    const detail = (await owner.get(`/api/issues/${issue?.id ?? ''}`)).as<IssueDetail>()
    expect(detail.event?.exceptions.at(-1)?.stacktrace?.frames).toMatchObject([{ raw: { abs_path } }])
  })

  test('that are no maps are said, and the others are sent', async () => {
    const folder = folderOf({
      'good.js.map': MAP,
      'page.js.map': '\n<!doctype html><title>404</title>',
      'x.js.map': '',
    })
    const release = 'web@2.0.0'
    expect(await upload(['sourcemaps', folder, '--release', release], folder)).toEqual({
      code: 1,
      lines: [
        'good.js.map  ~/good.js: stored, 864 bytes',
        '1 file stored',
        'faultline: page.js.map: The file is an HTML page, not a source map. The server that it was loaded from may have answered with an error page.',
        'faultline: x.js.map: The file is empty. Build it again.',
      ],
    })
    expect(await maps(release)).toMatchObject([{ filename: '~/good.js' }])
    expect((await upload(['sourcemaps', folder, '--release', 'latest'], folder)).lines).toEqual([
      'faultline: --release "latest" is no name of a release.',
    ])
  })

  test('that the service cannot use are said with --wait, also when they were there before', async () => {
    const folder = folderOf({ 'cut.js.map': MAP.subarray(0, 400) })
    const words = ['sourcemaps', folder, '--release', 'web@3.0.0']
    expect(await upload([...words, '--wait'], folder)).toEqual({
      code: 1,
      lines: [
        'cut.js.map  ~/cut.js: stored, 400 bytes',
        '1 file stored',
        'faultline: cut.js.map: cannot be used: The file is not complete JSON. It may have been cut off on its way; upload it again.',
      ],
    })
    // A file that failed is indexed again.
    const again = await upload([...words, '--wait'], folder)
    expect(again.code).toBe(1)
    expect(again.lines).toContainEqual(expect.stringMatching(/^faultline: cut.js.map: cannot be used/))
  })
})

describe('a mapping', () => {
  test('is sent by release and by UUID', async () => {
    const folder = folderOf({ 'mapping.txt': MAPPING })
    const path = join(folder, 'mapping.txt')
    const uuid = 'BCC0ED9D-5B8F-5D9E-8F08-35EDEC4A0F10'
    expect(await upload(['proguard', path, '--release', 'shop@1.0.0', '--uuid', uuid, '--wait'], folder)).toEqual({
      code: 0,
      lines: [`mapping.txt  ${uuid}  shop@1.0.0: stored, 465 bytes`, '1 file stored', 'mapping.txt: ready'],
    })
    expect(await maps('shop@1.0.0')).toMatchObject([
      { symbolication_type: 'proguard', debug_id: uuid.toLowerCase(), name: 'mapping.txt' },
    ])
  })
})

describe('debug files', () => {
  test('of a .dSYM, a Mach-O file and a zip are sent, others are not', async () => {
    const folder = folderOf({
      'Acme.app.dSYM/Contents/Info.plist': '<plist/>',
      'Acme.app.dSYM/Contents/Resources/DWARF/Acmé "1"': MACHO,
      'Acme.dSYM.zip': zipOf({ 'Acme.app.dSYM/Contents/Resources/DWARF/Acme': MACHO }),
      'libacme.so': ELF,
      'A.class': Buffer.from('cafebabe00000034', 'hex'),
    })
    expect(await upload(['dsym', folder, '--wait'], folder)).toEqual({
      code: 0,
      lines: [
        `Acme.app.dSYM/Contents/Resources/DWARF/Acmé "1"  arm64 ${MACHO_ID}: stored, 8.9 KiB`,
        '1 file stored',
        'Acme.app.dSYM/Contents/Resources/DWARF/Acmé "1": ready',
      ],
    })
    expect(await dsyms(MACHO_ID)).toMatchObject([{ kind: 'macho', state: 'ready' }])
    expect(await upload(['dsym', join(folder, 'Acme.dSYM.zip'), join(folder, 'libacme.so')], folder)).toEqual({
      code: 1,
      lines: [
        'Acme.dSYM.zip: already there',
        '0 files stored, 1 already there',
        'faultline: libacme.so: This is no Mach-O file, .dSYM or zip. ELF and Breakpad files go with "faultline upload elf".',
      ],
    })
    const other = zipOf({ 'readme.txt': 'no debug file' })
    writeFileSync(join(folder, 'other.zip'), other)
    expect((await upload(['dsym', join(folder, 'other.zip')], folder)).lines).toEqual([
      '0 files stored, 1 refused',
      'faultline: other.zip: The archive has no debug file. The file is no Mach-O, ELF or Breakpad file.',
    ])
  })

  test('of ELF and Breakpad are found by their first bytes; stripped and intermediate files are left out', async () => {
    const intermediate = Buffer.from(ELF)
    intermediate.writeUInt16LE(1, 16)
    const folder = folderOf({
      'a.o': intermediate,
      'b/libacme': ELF,
      'c.sym': 'MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app\nFUNC 10 10 0 main\n10 10 1 0\n',
      'd.so': fixture('symbols-native/linux-x86_64-stripped.so'),
      'e.txt': 'ELF',
      'f.so': ELF.subarray(0, 100),
      'g.so': '',
    })
    const { code, lines } = await upload(['elf', folder, '--wait'], folder)
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [
        'd.so: left out: stripped, it has no symbols. Send the file from before it was stripped, or its file of debug information.',
        'f.so: left out: The file is damaged or was cut off.',
        'b/libacme  x86_64 62b290d9-67a1-49aa-fa42-91caf18135a0: stored, 16.2 KiB',
        'c.sym  x86_64 01234567-89ab-cdef-0123-456789abcdef: stored, 86 bytes',
        '2 files stored',
        'b/libacme: ready',
        'c.sym: ready',
      ],
    })
    expect(await dsyms('62b290d9-67a1-49aa-fa42-91caf18135a0')).toMatchObject([{ name: 'libacme', kind: 'elf' }])
    expect(await upload(['elf', join(folder, 'd.so'), join(folder, 'g.so')], folder)).toMatchObject({ code: 1 })
  })
})

describe('settings', () => {
  const folder = folderOf({ 'mapping.txt': MAPPING })
  const words = ['proguard', join(folder, 'mapping.txt'), '--release', 'settings@1']
  const lines = async (env: Readonly<Record<string, string>>, ...more: string[]) => {
    const { code, lines: said } = await upload([...words, ...more], folder, env)
    expect({ code, lines: said.length }).toEqual({ code: 1, lines: 1 })
    return said[0]
  }

  test('of Sentry-family tools, arguments and standard input are taken', async () => {
    const env = { SENTRY_URL: `${t.url}/`, SENTRY_AUTH_TOKEN: token, SENTRY_PROJECT: project.slug }
    expect((await upload(words, folder, env)).lines.at(-1)).toBe('1 file stored')
    const words2 = [...words, '--url', t.url, '--project', project.id, '--token-stdin']
    const { code, lines: said } = await upload(words2, folder, { ...env, SENTRY_URL: 'http://x' }, `${token}\n`)
    expect([code, said.at(-1)]).toEqual([0, '0 files stored, 1 already there'])
    // As npm starts it, in the folder of the package.
    const fromFolder = await upload(['proguard', 'mapping.txt', ...words.slice(2)], folder, {
      ...env,
      INIT_CWD: folder,
    })
    expect(fromFolder.lines[0]).toBe('mapping.txt  settings@1: already there')
    const byNumber = await upload(words, folder, { ...env, SENTRY_PROJECT: String(project.number) })
    expect(byNumber.code).toBe(0)
  })

  test('that are missing are named', async () => {
    const { FAULTLINE_URL, FAULTLINE_TOKEN } = settings()
    expect(await lines({})).toMatch(/address of Faultline is missing\. Set FAULTLINE_URL/)
    expect(await lines({ FAULTLINE_URL })).toMatch(/no token\. Create an API key .*set FAULTLINE_TOKEN/)
    expect(await lines({ FAULTLINE_URL, FAULTLINE_TOKEN })).toMatch(/project is missing\. Set FAULTLINE_PROJECT/)
    expect(await lines({ ...settings(), FAULTLINE_URL: 'shop' })).toMatch(/--url must be an address like https:/)
    expect(await lines({ ...settings(), FAULTLINE_TOKEN: 'a b' })).toMatch(/characters that no API key has/)
    expect(await lines(settings(), '--token', token)).toMatch(/among the arguments can be read by other users/)
  })

  test('that the service refuses are said in its words', async () => {
    const env = settings()
    expect(await lines({ ...env, FAULTLINE_TOKEN: 'svc_wrong' })).toBe(
      'faultline: The token is not accepted. This is not an API key. Copy the whole key, which begins with svc_.',
    )
    expect(await lines({ ...env, FAULTLINE_TOKEN: await keyWith(['projects:read']) })).toBe(
      'faultline: The token may not do this. This needs an API key with the scope uploads:write.',
    )
    expect(await lines({ ...env, FAULTLINE_PROJECT: 'nothing' })).toBe(
      `faultline: The organisation of this token has no project nothing. --project takes one of ${project.slug}.`,
    )
    const other = '0198f111-0000-4000-8000-000000000000'
    expect(await lines({ ...env, FAULTLINE_PROJECT: other })).toBe('faultline: Project not found.')
    await t.app.db.query('update symbol_files set size_bytes = $2 where project_id = $1', [project.id, 20 * 1024 ** 3])
    const { code, lines: said } = await upload(['proguard', join(folder, 'mapping.txt'), '--release', 'r@2'], folder)
    await t.app.db.query('update symbol_files set size_bytes = 1 where project_id = $1', [project.id])
    expect({ code, said }).toEqual({
      code: 1,
      said: ['faultline: The symbol files of the organisation take 20 GiB, the maximum. Delete those of old releases.'],
    })
  })
})

describe('the network', () => {
  const folder = folderOf({ 'mapping.txt': MAPPING })
  const words = ['proguard', join(folder, 'mapping.txt'), '--release', 'network@1']
  const PROJECT = '0198f111-0000-4000-8000-000000000000'
  const at = (url: string) => ({ FAULTLINE_URL: url, FAULTLINE_TOKEN: 'svc_1', FAULTLINE_PROJECT: PROJECT })
  const STORED = { id: PROJECT, state: 'indexing', problem: null, created_at: '2026-01-01T00:00:00.000Z' }
  const json = (status: number, body: object, headers = {}): Answer => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

  async function receiving(...answers: readonly [Answer, ...Answer[]]) {
    let n = 0
    const last = answers.at(-1) ?? answers[0]
    const receiver = await startReceiver({ respond: () => answers[n++] ?? last })
    closers.push(receiver.close)
    return receiver
  }

  test('cuts a connection in the middle: the file is sent again', async () => {
    let cuts = 0
    const through = createServer((client) => {
      const service = connect(Number(new URL(t.url).port), '127.0.0.1')
      let bytes = 0
      client.on('data', (chunk) => {
        bytes += chunk.length
        if (bytes < 500_000 || cuts > 0) return
        cuts++
        client.resetAndDestroy()
        service.destroy()
      })
      for (const [from, to] of [
        [client, service],
        [service, client],
      ] as const)
        from.on('error', () => to.destroy()).pipe(to)
    })
    await new Promise<void>((resolve) => {
      through.listen(0, '127.0.0.1', resolve)
    })
    closers.push(() => new Promise((resolve) => void through.close(resolve)))
    const map = { ...(JSON.parse(MAP.toString()) as object), comment: 'x'.repeat(2_000_000) }
    const large = folderOf({ 'large.js.map': JSON.stringify(map) })
    const url = `http://127.0.0.1:${(through.address() as AddressInfo).port}`
    const env = { ...settings(), FAULTLINE_URL: url }
    const { code, lines } = await upload(['sourcemaps', large, '--release', 'cut@1', '--wait'], large, env)
    expect({ code, cuts, lines }).toEqual({
      code: 0,
      cuts: 1,
      lines: [
        expect.stringMatching(
          /^http:.* breaks the connection \((?:ECONNRESET|EPIPE)\); trying again in 0\.5 s \(1 of 3\)$/,
        ),
        'large.js.map  ~/large.js: stored, 1.9 MiB',
        '1 file stored',
        'large.js.map: ready',
      ],
    })
    expect(await maps('cut@1')).toHaveLength(1)
  })

  test('is busy: the wait that the service names is kept', async () => {
    const busy = json(503, { error: 'Too many uploads at once.' }, { 'retry-after': '1' })
    const receiver = await receiving(busy, 429, json(201, STORED))
    const { code, lines } = await upload(words, folder, at(receiver.url))
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [
        'the service answers 503; trying again in 1 s (1 of 3)',
        'the service answers 429; trying again in 1 s (2 of 3)',
        'mapping.txt  network@1: stored, 465 bytes',
        '1 file stored',
      ],
    })
    const [first, second, third] = receiver.requests
    expect((second?.receivedAtMs ?? 0) - (first?.receivedAtMs ?? 0)).toBeGreaterThanOrEqual(950)
    for (const request of [first, third]) {
      expect(request?.body.includes(MAPPING)).toBe(true)
      expect(request?.headers).toMatchObject({
        authorization: 'Bearer svc_1',
        'content-length': String(request?.body.length),
      })
    }
  })

  test('has something else at the address: one line says what', async () => {
    const page: Answer = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Wiki</title>' }
    const line = async (answer: Answer): Promise<string | undefined> => {
      const { code, lines } = await upload(words, folder, at((await receiving(answer)).url))
      expect({ code, lines: lines.length }).toEqual({ code: 1, lines: 1 })
      return lines[0]
    }
    expect(await line(page)).toMatch(/is no Faultline, or a proxy answers for it\. Correct --url\.$/)
    expect(await line({ ...page, status: 404 })).toMatch(/is no Faultline/)
    expect(await line(json(200, { ok: true }))).toMatch(/is no Faultline/)
    expect(await line({ status: 308, headers: { location: 'https://new.example.com/api/x' } })).toMatch(
      /has moved: https:\/\/new\.example\.com\. Set that address/,
    )
    expect(await line({ raw: 'SSH-2.0-OpenSSH_9.6\r\n' })).toMatch(/does not speak http \(HPE_/)
    expect(await line(json(500, { error: 'An error occurred.' }))).toMatch(/service failed \(500\): An error occurred/)
    expect(await line(json(503, { error: 'Later.' }, { 'retry-after': '3600' }))).toMatch(/answers 503 \(Later\.\)/)
    const tooLarge = await upload(words, folder, at((await receiving({ ...page, status: 413 })).url))
    expect(tooLarge.lines[1]).toMatch(/^faultline: mapping\.txt: A proxy before the service refuses .*413/)
  })

  test('has no server, or one whose certificate nothing vouches for', async () => {
    const gone = await startReceiver()
    await gone.close()
    const { code, lines } = await upload(words, folder, at(gone.url))
    expect({ code, last: lines.at(-1), lines: lines.length }).toEqual({
      code: 1,
      last: `faultline: ${gone.url} is not reachable (ECONNREFUSED). Check --url, the network, and that the service runs; then run this again.`,
      lines: 4,
    })
    const secure = await startReceiver({ tls: selfSigned(), respond: () => json(201, STORED) })
    closers.push(secure.close)
    expect((await upload(words, folder, at(secure.url))).lines).toEqual([
      expect.stringMatching(
        /certificate of https:.* is not accepted \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. .*NODE_EXTRA_CA_CERTS/,
      ),
    ])
    expect(secure.requests).toEqual([])
  })

  test('has a service that indexes nothing: the wait has an end', async () => {
    const receiver = await receiving(json(201, STORED), json(200, { items: [STORED], next_cursor: null }))
    expect(await upload([...words, '--wait', '--timeout', '1'], folder, at(receiver.url))).toEqual({
      code: 1,
      lines: [
        'mapping.txt  network@1: stored, 465 bytes',
        '1 file stored',
        'faultline: 1 file not indexed after 1 s, such as mapping.txt. They are stored: look on the page Symbols later, or wait longer with --timeout.',
      ],
    })
  })
})

test('the options are explained with examples', async () => {
  const { code, lines } = await upload(['elf', '--help'], folders, {})
  expect(code).toBe(0)
  expect(lines.join('\n')).toMatch(/--token-stdin[^]*Examples:\n {2}faultline upload elf /)
  expect((await upload(['elf', '.', '--timeout', 'x'], folders, {})).lines[0]).toMatch(/Name a number of seconds/)
})
