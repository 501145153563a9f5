import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findDebugFiles, type Platform, findMapping } from './upload-commands.ts'
import { findSourceMaps } from './find-source-maps.ts'
import type { Plan } from './plan.ts'

/** What `faultline upload` finds below its paths, before anything is sent. */

const fixture = (name: string): Buffer => readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url))
const MAP = fixture('samples/artefacts/app.min.js.map')
const DEBUG_ID = '6f1c2ab0-0000-4000-8000-00000000000a'

const folders = mkdtempSync(join(tmpdir(), 'faultline-find-'))
afterAll(() => rmSync(folders, { recursive: true, force: true }))

/** A folder with these files. */
function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(folders, 'f-'))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

/** Its lines, with paths below the folder. */
function linesOf({ uploads, leftOut, problems }: Plan, folder: string): string[] {
  const sent = uploads.map(({ path, names }) => `send ${[path, ...names].join(' ')}`)
  return [...sent, ...leftOut, ...problems].map((line) => line.replaceAll(`${folder}/`, ''))
}

describe('source maps', () => {
  const find = async (
    folder: string,
    names: readonly string[],
    options: { release?: string; urlPrefix?: string } = {},
  ) =>
    linesOf(
      await findSourceMaps(
        names.map((name) => join(folder, name)),
        { urlPrefix: '~', ...options },
      ),
      folder,
    )

  test('are named as files: alone, by their code, or both', async () => {
    const folder = folderOf({ 'a.js': 'f()\n//# sourceMappingURL=a.map\n', 'a.map': MAP, 'b.bundle.map': MAP })
    const release = 'r@1'
    expect(await find(folder, ['a.js', 'b.bundle.map'], { release })).toEqual([
      'send a.map ~/a.js',
      'send b.bundle.map ~/b.bundle',
    ])
    expect(await find(folder, ['a.js', 'a.map'], { release })).toEqual(['send a.map ~/a.js'])
  })

  test.each([
    ['app.js.map', '~/v1/js/app.js'],
    ['../maps/other%201.map?v=2#x', '~/v1/js/app.js'],
    ['https://maps.example.com/x/app.js.map', '~/v1/js/app.js'],
  ])('that code calls %s are beside it', async (url, address) => {
    const name = url.includes('other') ? 'maps/other 1.map' : 'js/app.js.map'
    const folder = folderOf({ 'js/app.js': `f()\n//# sourceMappingURL=${url}\n`, [name]: MAP })
    expect(await find(folder, ['.'], { release: 'r@1', urlPrefix: 'https://cdn.example.com/v1/' })).toEqual([
      `send ${name} ${address}`,
    ])
  })

  test('have the debug id of the map, or of its code', async () => {
    const ofMap = JSON.stringify({ ...(JSON.parse(MAP.toString()) as object), debug_id: DEBUG_ID })
    const folder = folderOf({
      'a.js.map': ofMap,
      'b.mjs': `f()\n//# debugId=${DEBUG_ID.toUpperCase()}\n`,
      'b.mjs.map': MAP,
      'c.js.map': MAP,
      'd.js.map': MAP,
    })
    expect(await find(folder, ['.'])).toEqual([
      `send a.js.map ~/a.js ${DEBUG_ID}`,
      `send b.mjs.map ~/b.mjs ${DEBUG_ID}`,
      'c.js.map and 1 more have no debug id. Name the release with --release, as the app sends it.',
    ])
    expect(await find(folder, ['b.mjs.map'])).toEqual([`send b.mjs.map ~/b.mjs ${DEBUG_ID}`])
  })

  test('that cannot be used are problems', async () => {
    const folder = folderOf({
      'empty.js.map': '',
      'huge.js.map': '{',
      'inside.js': 'f()\n//# sourceMappingURL=data:application/json;base64,e30=\n',
      'lonely.js': 'f()',
      'page.js.map': '\n<!doctype html><title>404</title>',
      'swapped.js.map': '(()=>{})()',
    })
    truncateSync(join(folder, 'huge.js.map'), 64 * 1024 ** 2 + 1)
    expect(await find(folder, ['lonely.js', 'inside.js', '.'], { release: 'r@1' })).toEqual([
      'lonely.js: This is code, and lonely.js.map is not there. Build with source maps.',
      'inside.js: The source map is inside the code. Have the build write it as a file of its own.',
      'empty.js.map: The file is empty. Build it again.',
      'huge.js.map: The file has 64.0 MiB; at most 64.0 MiB are taken.',
      'page.js.map: The file is an HTML page, not a source map. The server that it was loaded from may have answered with an error page.',
      'swapped.js.map: The file is not JSON, so it is not a source map. Upload the file whose name ends in .map.',
    ])
    await expect(find(folder, ['nothing'])).rejects.toThrow(/^There is no file or folder .*nothing\. Build first/)
    await expect(find(folderOf({ 'a.map': MAP }), ['.'], { urlPrefix: `~/${'x'.repeat(1_000)}` })).rejects.toThrow(
      /^--url-prefix must be an address/,
    )
  })
})

test('links in folders are not followed', async () => {
  const folder = folderOf({ 'a/app.js.map': MAP })
  symlinkSync('..', join(folder, 'a/up'))
  symlinkSync('a/app.js.map', join(folder, 'b.js.map'))
  const plan = await findSourceMaps([folder], { release: 'r@1', urlPrefix: '~' })
  expect(linesOf(plan, folder)).toEqual(['send a/app.js.map ~/a/app.js'])
})

describe('a mapping', () => {
  const folder = folderOf({
    'mapping.txt': fixture('samples/artefacts/proguard-mapping.txt'),
    'page.txt': '<html>',
    'usage.txt': 'com.acme.Unused\n',
  })

  test.each([
    ['page.txt', /^page\.txt: The file is HTML or XML/],
    ['usage.txt', /^usage\.txt: The file has no class of a mapping/],
  ])('in %s is none', async (name, problem) => {
    expect(linesOf(await findMapping(join(folder, name), { release: 'r@1' }), folder)).toEqual([
      expect.stringMatching(problem),
    ])
  })

  test('is named with a release or a UUID, and as a file', async () => {
    const path = join(folder, 'mapping.txt')
    await expect(findMapping(path, {})).rejects.toThrow(/^Name the release with --release, or with --uuid/)
    await expect(findMapping(path, { uuid: 'x' })).rejects.toThrow(/^--uuid must be a UUID/)
    await expect(findMapping(folder, { release: 'r@1' })).rejects.toThrow(/ is a folder\. Name the mapping\.txt in it/)
  })
})

describe('debug files', () => {
  const find = async (folder: string, platform: Platform, ...names: readonly string[]) =>
    linesOf(
      await findDebugFiles(
        names.map((name) => join(folder, name)),
        platform,
      ),
      folder,
    )

  test('of a build are sent without the program that has only its symbols', async () => {
    const program = Buffer.from(fixture('symbols-native/linux-x86_64-dwarf5.so'))
    // The sections of debug information get names that nothing reads.
    for (let at = program.indexOf('.debug_'); at >= 0; at = program.indexOf('.debug_')) program.write('.other_', at)
    const folder = folderOf({ 'app.debug': fixture('symbols-native/linux-x86_64-dwarf5.debug'), 'app.so': program })
    const id = 'x86_64 9253747b-0f5a-8a3a-3e61-48b508221014'
    expect(await find(folder, 'elf', '.')).toEqual([
      `send app.debug ${id}`,
      'app.so: left out: app.debug has the debug information of the same build.',
    ])
    expect(await find(folder, 'elf', 'app.so')).toEqual([`send app.so ${id}`])
  })

  test('that are named and cannot be used are problems, in folders they are left out', async () => {
    const folder = folderOf({
      'A.class': Buffer.from('cafebabe00000034', 'hex'),
      'cut.so': fixture('samples/artefacts/libacme.so').subarray(0, 100),
      'empty.so': '',
      'huge.so': fixture('samples/artefacts/libacme.so'),
    })
    truncateSync(join(folder, 'huge.so'), 512 * 1024 ** 2 + 1)
    const huge = 'huge.so: The file has 512 MiB; at most 512 MiB are taken.'
    expect(await find(folder, 'elf', '.')).toEqual(['cut.so: left out: The file is damaged or was cut off.', huge])
    expect(await find(folder, 'elf', 'A.class', 'cut.so', 'empty.so')).toEqual([
      'A.class: This is no ELF or Breakpad file. Mach-O files and .dSYM go with "faultline upload dsym".',
      'cut.so: The file is damaged or was cut off.',
      'empty.so: The file is empty. Build it again.',
    ])
  })
})
