import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkedFiles } from '../../scripts/check-words.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Relative links of a Markdown text, without their anchors. */
const linksIn = (markdown: string): string[] =>
  [...markdown.matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? '')

/** This file names pages that do not exist. */
const isChecked = (file: string): boolean => file !== 'test/conventions/docs.test.ts'

/** Pages that code names, by their path in the repository. */
const pagesIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w/.*-])\w[\w-]*(?:\/[\w-]+)*\.md\b/g)].map(([page]) => page)

/** Numbered sections of a page, as in `docs/protocol.md §3.2`. */
const sectionsIn = (text: string): string[] =>
  [...text.matchAll(/\b(docs\/[\w/-]+\.md) §(\d+(?:\.\d+)*)/g)].map((match) => `${match[1]} ${match[2]}`)

describe('documentation', () => {
  test('every link of a page leads to a file', () => {
    const pages = globSync('{*.md,docs/**/*.md}', { cwd: root })
    expect(pages.length).toBeGreaterThan(40)
    const broken = pages.flatMap((page) =>
      linksIn(read(page))
        .filter((link) => !existsSync(join(root, dirname(page), link)))
        .map((link) => `${page}: ${link}`),
    )
    expect(broken).toEqual([])
  })

  test('every page and section that code names exists', () => {
    const broken = checkedFiles(root)
      .filter(isChecked)
      .flatMap((file) => {
        const text = read(file)
        return [
          ...(file.endsWith('.md') ? [] : pagesIn(text)).filter((page) => !existsSync(join(root, page))),
          ...sectionsIn(text).filter((reference) => {
            const [page = '', section = ''] = reference.split(' ')
            return (
              existsSync(join(root, page)) &&
              !new RegExp(`^#+ ${section.replaceAll('.', '\\.')}[. ]`, 'm').test(read(page))
            )
          }),
        ].map((missing) => `${file}: ${missing}`)
      })
    expect(broken).toEqual([])
  })

  test('broken links, pages and sections are found', () => {
    expect(linksIn('[a](b/c.md#d) [e](https://example.com) [f](#g)')).toEqual(['b/c.md'])
    expect(pagesIn('// see docs/decisions/none.md')).toEqual(['docs/decisions/none.md'])
    expect(sectionsIn('docs/protocol.md §3.2')).toEqual(['docs/protocol.md 3.2'])
  })

  test('every file and folder that ARCHITECTURE.md names exists', () => {
    const names = [...read('ARCHITECTURE.md').matchAll(/`([\w.-]+\/(?:[\w./-]+)?)`/g)].map((match) => match[1] ?? '')
    expect(names.length).toBeGreaterThan(60)
    expect(names.filter((name) => !['', 'server', 'web'].some((top) => existsSync(join(root, top, name))))).toEqual([])
  })

  test('every decision has the same sections and a row in the index', () => {
    const index = read('docs/decisions/README.md')
    const records = globSync('docs/decisions/*.md', { cwd: root }).filter((file) => !file.endsWith('README.md'))
    expect(records.length).toBeGreaterThan(20)
    for (const record of records) {
      const text = read(record)
      const title = /^# (.+)$/m.exec(text)?.[1] ?? ''
      expect(index, `${record} in the index`).toContain(`- [${title}](${record.split('/').at(-1)})\n`)
      expect([...text.matchAll(/^## (.+)$/gm)].map((match) => match[1])).toEqual([
        'Context',
        'Decision',
        'Evidence',
        'Consequences',
      ])
    }
  })
})
