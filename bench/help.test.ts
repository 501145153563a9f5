import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const textOf = (name: string): string => readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8')
const optionsIn = (text: string): string[] => [...text.matchAll(/--([a-z][a-z-]*)/g)].map(([, option = '']) => option)
/** The summary as it is written: importing a bench may import half of the product. */
const helpOf = (name: string): string => /^export const summary =\s+'(.*)'$/m.exec(textOf(name))?.[1] ?? ''
const benches = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .filter((name) => textOf(name).includes('export const summary'))

test('the help of a bench names the options that it reads, and no others', () => {
  for (const name of benches) {
    const help = helpOf(name)
    expect(help, name).not.toBe('')
    const read = [...textOf(name).matchAll(/options\['([a-z-]+)'\]/g)].map(([, option = '']) => option)
    for (const option of read) expect(optionsIn(help), `${name} reads --${option}`).toContain(option)
    for (const option of new Set(optionsIn(help)))
      expect(textOf(name).replace(help, ''), `${name} does not read --${option}`).toMatch(
        new RegExp(`\\b${option.replaceAll('-', '\\W?')}\\b`),
      )
  }
})

test('commands of the documentation use options that exist', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  const files = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...pages.map((page) => join('docs', page))]
  let found = 0
  for (const file of files.filter((file) => file.endsWith('.md') && existsSync(join(root, file)))) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [command, name = '', rest = ''] of text.matchAll(/npm run bench -- ([a-z-]+)((?: --[a-z][^\s`]*)*)/g)) {
      if (name === 'all') continue
      found++
      expect(benches, `${file}: ${command}`).toContain(name)
      for (const option of optionsIn(rest)) expect(optionsIn(helpOf(name)), `${file}: ${command}`).toContain(option)
    }
  }
  expect(found).toBeGreaterThan(20)
})
