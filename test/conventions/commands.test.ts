import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

/** Commands that pages name exist. */

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')))
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...globSync('{docs,deploy,server}/**/*.md', { cwd: root }),
]

test('each npm script that a page names is in package.json', () => {
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => ({ page, name })),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ name }) => !(name in scripts))).toEqual([])
})

test('each option that the pages of demonstration and installation name is one of the command', () => {
  const helps = [read('demo/run.ts'), read('bench/size-machine.ts')].join('\n')
  const text = [read('docs/demo.md'), read('docs/install.md').split('## How large a machine')[1] ?? ''].join('\n')
  const options = [...text.matchAll(/--([a-z][\w-]+)/g)].map(([, name = '']) => name).filter((name) => name !== 'help')
  expect(options.length).toBeGreaterThan(3)
  for (const name of options) expect(helps).toContain(`--${name}`)
})
