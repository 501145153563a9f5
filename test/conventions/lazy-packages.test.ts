import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Packages that most processes never need, 9 to 20 MiB each, and a file of ours. They are loaded at first use. */
const LAZY = [
  'otpauth',
  '@simplewebauthn/server',
  'openid-client',
  '@modelcontextprotocol/server',
  'libpg-query',
  'pgsql-deparser',
  './export-metrics.ts',
  '@nats-io/transport-node',
  '@nats-io/jetstream',
]

test.each(LAZY)('no file of the server loads %s at the start, and one loads it later', (name) => {
  const files = globSync('server/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  const atStart = new RegExp(`^(?:import(?! type\\b)|export)[^']*from '${name}(?:/[^']*)?'|^import '${name}'`, 'm')
  expect(texts.filter(({ text }) => atStart.test(text)).map(({ file }) => file)).toEqual([])
  expect(texts.some(({ text }) => text.includes(`import('${name}')`))).toBe(true)
})
