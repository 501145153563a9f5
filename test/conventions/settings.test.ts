import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')

test('every setting is in the table for operators, and the table has no others', () => {
  const known = [...read('server/config/environment.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(
    ([, name = '']) => name,
  )
  expect(known.length).toBeGreaterThan(10)
  const table = read('docs/running.md').split('## Settings')[1]?.split('\n## ')[0] ?? ''
  const documented = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name))
  expect(documented.toSorted()).toEqual(known.toSorted())
})
