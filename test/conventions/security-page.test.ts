import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** docs/security.md names tests as evidence: they must exist, and every requirement needs some. */

const root = new URL('../../', import.meta.url)
const page = readFileSync(new URL('docs/security.md', root), 'utf8')
const rows = [
  ...page.matchAll(/^\| (?<id>\d+\.\d+\.\d+) \| (?<level>[12]) \| (?<asks>[^|]+) \| (?<evidence>[^|]+) \|$/gm),
].map(({ groups }) => ({ id: groups?.['id'] ?? '', evidence: groups?.['evidence'] ?? '' }))
const named = (text: string) =>
  [...text.matchAll(/`(?<file>[\w./-]+\.test\.tsx?)`: "(?<title>[^"]+)"/g)].map(({ groups }) => ({
    file: groups?.['file'] ?? '',
    title: groups?.['title'] ?? '',
  }))

test('every test that the page names exists', () => {
  const missing = named(page).filter(({ file, title }) => {
    const url = new URL(file, root)
    // The title of a test or a group, quoted where it is declared.
    return (
      !existsSync(url) ||
      !readFileSync(url, 'utf8')
        .split('\n')
        .some((line) => /^\s*(?:test|describe|\]|\}?\))/.test(line) && line.includes(title))
    )
  })
  expect(missing).toEqual([])
  expect(named(page).length).toBeGreaterThan(100)
})

test('every requirement of the chapters has one row, with a test, a page, or the reason why not', () => {
  const ids = rows.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBe(page.match(/^\| \d+\.\d+\.\d+ \|/gm)?.length)
  expect(new Set(ids.map((id) => id.split('.', 1)[0]))).toEqual(new Set(['3', '6', '7', '8', '10']))
  const without = rows.filter(
    ({ evidence }) =>
      named(evidence).length === 0 && !/^(?:Documentation: \[|Does not apply: \w|\*\*Not met\*\*: \w)/.test(evidence),
  )
  expect(without).toEqual([])
})

test('every page that it links to exists', () => {
  const links = [...page.matchAll(/\]\((?<file>[\w-]+\.(?:md|json))/g)].map(({ groups }) => groups?.['file'] ?? '')
  expect(links.filter((file) => !existsSync(new URL(`docs/${file}`, root)))).toEqual([])
  expect(links.length).toBeGreaterThan(10)
})
