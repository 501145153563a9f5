import { expect, test } from 'vitest'
import { dependenciesOf, foldersOf, reachedBy, type Checkout } from './import-graph.ts'

const files = new Set([
  'pages/running.txt',
  'migrations/0001.sql',
  'server/a/page.ts',
  'server/a/thread.ts',
  'server/b/rule.ts',
  'test/kit/app.ts',
  'web/ui/button.css',
  'web/ui/button.tsx',
])
const checkout: Checkout = {
  files,
  folders: new Set([...files].flatMap(foldersOf)),
  subpaths: { '#server/*': './server/*', '#test/*': './test/*' },
}
const dependenciesIn = (text: string, file = 'server/a/page.ts') => dependenciesOf(file, text, checkout)

test.each([
  ['a static import', `import { rule } from '../b/rule.ts'`, ['server/b/rule.ts']],
  ['an import over several lines', `import {\n  rule,\n  type Rule,\n} from '#server/b/rule.ts'`, ['server/b/rule.ts']],
  ['an import for its effects', `import '#test/kit/app.ts'`, ['test/kit/app.ts']],
  ['an export from another file', `export * from '../b/rule.ts'`, ['server/b/rule.ts']],
  ['a dynamic import', `const rule = () => import('../b/rule.ts')`, ['server/b/rule.ts']],
  ['the file of a thread', `new Worker(new URL('thread.ts', import.meta.url))`, ['server/a/thread.ts']],
  ['a folder', `new URL('../../migrations/', import.meta.url)`, ['migrations/']],
  ['a path from the root', `readFileSync(join(root, 'pages/running.txt'))`, ['pages/running.txt']],
  ['a folder of the root', `readdirSync(join(root, 'web'))`, ['web/']],
  ['a template', 'await import(`../b/${name}.ts`)', ['server/b/*.ts']],
  ['a pattern', `globSync('pages/*.txt', { cwd })`, ['pages/*.txt']],
  ['a type import', `import type { Rule } from '../b/rule.ts'`, []],
  ['a type import over several lines', `import type {\n  Rule,\n} from '../b/rule.ts'`, []],
  ['a type export', `export type { Rule } from '../b/rule.ts'`, []],
  ['a type before an import', `export type A = number\nimport '../b/rule.ts'`, ['server/b/rule.ts']],
  ['a package and a word', `import { z } from 'zod'\nconst kind = 'web'`, []],
  ['an address', 'fetch(`/web/${id}`)', []],
  ['a comment', `// As '../b/rule.ts' does.\n/** And 'pages/running.txt'. */`, []],
])('%s', (_, text, expected) => {
  expect(dependenciesIn(text)).toEqual(expected)
})

test('styles import styles', () => {
  expect(dependenciesIn(`@import './button.css' layer(parts);`, 'web/ui/button.tsx.css')).toEqual(['web/ui/button.css'])
  expect(dependenciesIn(`import styles from './button.css'`, 'web/ui/button.tsx')).toEqual(['web/ui/button.css'])
})

test('a change reaches what depends on the file, its folders and its patterns, through any number of files', () => {
  const graph = new Map([
    ['server/a/page.ts', ['server/b/rule.ts']],
    ['server/a/page.test.ts', ['server/a/page.ts']],
    ['server/b/rule.ts', ['server/a/page.ts']],
    ['server/b/other.test.ts', ['migrations/']],
    ['test/pages.test.ts', ['pages/*.txt', 'server/b/']],
  ])
  const reachedFrom = (...changed: string[]) =>
    Object.fromEntries([...reachedBy(changed, graph)].filter(([file]) => file.includes('.test.')))
  expect(reachedFrom('server/b/rule.ts')).toEqual({
    'server/a/page.test.ts': 'server/a/page.ts',
    'test/pages.test.ts': 'server/b/rule.ts',
  })
  expect(reachedFrom('migrations/0002.sql')).toEqual({
    'server/b/other.test.ts': 'migrations/0002.sql',
    'test/pages.test.ts': 'server/b/other.test.ts',
  })
  expect(reachedFrom('pages/new.txt')).toEqual({ 'test/pages.test.ts': 'pages/new.txt' })
  expect(reachedFrom('pages/more/new.txt', 'readme.txt')).toEqual({})
  expect(reachedFrom('server/a/page.test.ts')).toEqual({ 'server/a/page.test.ts': 'server/a/page.test.ts' })
})
