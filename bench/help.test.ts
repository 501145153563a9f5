import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PARTS } from './processor-time.ts'

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

test('the budget in docs/performance.md has every load and part that drain --parts prints', () => {
  const page = readFileSync(join(root, 'docs/performance.md'), 'utf8')
  const titles = [...textOf('parts').matchAll(/title: '([^']+)'/g)].map(([, title = '']) => title)
  expect(titles.length).toBeGreaterThan(3)
  expect(page).toContain(`| µs an event | ${titles.join(' | ')} |`)
  for (const part of PARTS) expect(page).toContain(`\n| ${part} |`)
})
