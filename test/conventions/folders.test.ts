import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverFolders } from '../../scripts/server-layers.ts'

/**
 * A folder of `server/` that one reader can keep in mind. Above the limit, split it into siblings and add each to
 * `scripts/server-layers.ts`.
 */
const MAX_LINES = 4_000

/** Only parsers, one per wire format, independent of each other: more formats do not make it harder to read. */
const EXCEPTED: readonly string[] = ['protocol']

const server = join(import.meta.dirname, '../../server')

/** Lines without tests and fixtures. */
function linesOf(folder: string): number {
  const files = globSync('**/*.ts', { cwd: join(server, folder) })
  return files
    .filter((file) => !/\.(?:test|fixture)\.ts$/.test(file))
    .map((file) => readFileSync(join(server, folder, file), 'utf8').split('\n').length - 1)
    .reduce((sum, lines) => sum + lines, 0)
}

test('no folder of server/ holds more than 4,000 lines', () => {
  const folders = serverFolders.filter((folder) => !folder.endsWith('.ts') && !EXCEPTED.includes(folder))
  const tooLarge = folders
    .map((folder) => ({ folder, lines: linesOf(folder) }))
    .filter(({ lines }) => lines > MAX_LINES)
  expect(tooLarge).toEqual([])
  // The count itself works: it finds the one folder that is larger.
  expect(linesOf('protocol')).toBeGreaterThan(MAX_LINES)
})
