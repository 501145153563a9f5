import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { GuideIndex, searchedWords, searchGuide } from '../../server/service/http/guide-search.ts'
import { guideFiles } from './build.ts'
import { GUIDE_GROUPS } from './contents.ts'
import { GUIDE_PATH, renderPage } from './render.ts'

const files = guideFiles({ css: '/assets/guide.css', js: '/assets/guide.js' })
const documents = Object.entries(files).filter(([name]) => name.endsWith('.html'))
const index = GuideIndex.parse(JSON.parse(files['sections.json'] ?? ''))
const search = (typed: string) => searchGuide(index, searchedWords(typed))

describe('the guide', () => {
  test('each page of docs/ is in one group, and once', () => {
    const pages = readdirSync(join(import.meta.dirname, '../../docs')).filter((file) => file.endsWith('.md'))
    const listed = GUIDE_GROUPS.flatMap((group) => group.pages)
    expect(listed.toSorted()).toEqual(pages.map((file) => file.slice(0, -3)).toSorted())
  })

  test('every link leads to a page of the product, and every anchor to a heading', () => {
    const idsOf = (html: string): Set<string> => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id))
    const ids = new Map(documents.map(([name, html]) => [name, idsOf(html)]))
    const elsewhere = new Set(['/', '/docs', '/mark.svg', '/api/openapi.json', '/assets/guide.css'])
    const links = documents.flatMap(([name, html]) =>
      [...html.matchAll(/ href="([^"]*)"/g)].map(([, href = '']) => ({ name, href })),
    )
    expect(links.length).toBeGreaterThan(3_000)
    const broken = links.filter(({ name, href }) => {
      if (/^(?:https?:|mailto:)/.test(href) || elsewhere.has(href)) return false
      const [path = '', id] = href.split('#', 2)
      const target =
        path === '' ? name : path === GUIDE_PATH ? 'index.html' : `${path.replace(`${GUIDE_PATH}/`, '')}.html`
      return ids.get(target)?.has(decodeURIComponent(id ?? '') || 'main') !== true
    })
    expect(broken).toEqual([])
  })

  test('every page has a title and a sentence about it', () => {
    const abouts = [...(files['index.html'] ?? '').matchAll(/<a href="([^"]+)">[^<]+<\/a><\/dt><dd>(.*?)<\/dd>/g)]
    expect(abouts).toHaveLength(Object.keys(index.titles).length)
    expect(abouts.filter(([, , about = '']) => about.length < 20)).toEqual([])
  })

  test('nothing of a page becomes markup or an address that runs', () => {
    const source =
      '# A <b>\n\nText <script>x</script> [b](javascript:x) [c](../x.md) [README.md](README.md) ![e](//x.test/p)'
    const page = renderPage('a', source, (name) => (name === 'README' ? 'D & d' : undefined))
    expect(page.html).toBe(
      '<p>Text &lt;script&gt;x&lt;/script&gt; b c <a href="/docs/guide/README">D &amp; d</a> <img src="//x.test/p" alt="e" /></p>',
    )
    expect(page.title).toBe('A <b>')
  })
})

describe('the search', () => {
  test.each([
    ['restore drill', 'backup', 'restore-drill'],
    ['relaxed mode', 'running', 'modes'],
    ['verify signature', 'webhooks', 'verify-a-signature'],
    ['single sign-on', 'single-sign-on', ''],
  ])('%j finds the section first', (typed, page, id) => {
    expect(search(typed)[0]).toMatchObject({ page, id })
  })

  test('every word must be there, and results are few', () => {
    expect(search('restore zebra')).toEqual([])
    expect(search('the')).toHaveLength(20)
    expect(searchedWords(`${'a b c d e f g h i j '.repeat(20)}`)).toHaveLength(8)
  })

  test('an excerpt holds the word', () => {
    for (const { excerpt } of search('quarantine')) expect(excerpt.length).toBeLessThan(220)
    expect(search('hadolint')[0]?.excerpt).toContain('hadolint')
  })
})
