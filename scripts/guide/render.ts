import { micromark } from 'micromark'
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table'
import { escapeHtml } from '../../server/service/http/escape-html.ts'

/** Where the product serves the guide. */
export const GUIDE_PATH = '/docs/guide'

export type GuideHeading = { readonly level: number; readonly id: string; readonly text: string }

/** A part of a page that the search finds: a heading, and the text up to the next one. */
export type GuideSection = {
  readonly page: string
  readonly id: string
  readonly heading: string
  readonly text: string
}

export type GuidePage = {
  readonly name: string
  readonly title: string
  /** The first sentence, as text. */
  readonly about: string
  /** Without the title. Raw HTML of the source is text here, and addresses are http, https, mailto or relative. */
  readonly html: string
  readonly headings: readonly GuideHeading[]
  readonly sections: readonly GuideSection[]
}

/**
 * A page of `docs/` as HTML: headings with the ids that GitHub gives them, wide parts that scroll, links between pages as
 * addresses of the product. Links that leave the guide for the repository become text.
 * @param name the file's name without `.md`
 * @param titleOf the title of a page; absent where the guide has none of this name
 */
export function renderPage(name: string, source: string, titleOf: TitleReader): GuidePage {
  const markup = micromark(source, { extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()] })
  const ids = new Map<string, number>()
  const headings: GuideHeading[] = []
  const html = markup
    .replaceAll(/<h([1-6])>(.*?)<\/h\1>/gs, (_all, level: string, inner: string) => {
      const text = textOf(inner)
      const id = uniqueId(text, ids)
      headings.push({ level: Number(level), id, text })
      return `<h${level} id="${id}">${inner}</h${level}>`
    })
    // A heading without words says nothing to a screen reader.
    .replaceAll(/<thead>\n<tr>\n(?:<th><\/th>\n)+<\/tr>\n<\/thead>\n/g, '')
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll(/<table>.*?<\/table>/gs, (table) => `<div class="wide" tabindex="0">${table}</div>`)
    .replaceAll(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_all, href: string, inner: string) => {
      const target = productHref(href, titleOf)
      // A file's name says little in the product.
      const title = inner === href ? titleOf(href.replace(/\.md$/, '')) : undefined
      return target === null ? inner : `<a href="${target}">${title === undefined ? inner : escapeHtml(title)}</a>`
    })
  const [title] = headings
  if (title?.level !== 1 || !html.startsWith('<h1'))
    throw new Error(`docs/${name}.md does not begin with a heading of level 1`)
  const parts = html.split(/(?=<h[1-6] id=")/)
  return {
    name,
    title: title.text,
    about: firstSentence(textOf(/<p>(.*?)<\/p>/s.exec(html)?.[1] ?? '')),
    html: html.replace(/^<h1.*?<\/h1>\n?/s, ''),
    headings: headings.slice(1),
    sections: headings.map(({ id, text }, at) => ({
      page: name,
      id: at === 0 ? '' : id,
      heading: text,
      text: textOf((parts[at] ?? '').replace(/^<h[1-6].*?<\/h[1-6]>/s, '')),
    })),
  }
}

type TitleReader = (name: string) => string | undefined

/** The first sentence; two where the first only says for whom a page is. */
const firstSentence = (text: string): string =>
  (/^(?:For [^.:]*[.:] )?.*?[.?](?=\s|$)/s.exec(text)?.[0] ?? text).replace(/:$/, '.')

/** An address of the source in the product; null for a file of the repository that is no page. */
function productHref(href: string, titleOf: TitleReader): string | null {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href
  if (href === 'openapi.json') return '/api/openapi.json'
  const [, name = '', anchor = ''] = /^([\w-]+)\.md(#[^"]*)?$/.exec(href) ?? []
  return titleOf(name) !== undefined ? `${GUIDE_PATH}/${name}${anchor}` : null
}

function uniqueId(heading: string, taken: Map<string, number>): string {
  const id = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
  const before = taken.get(id) ?? 0
  taken.set(id, before + 1)
  return before === 0 ? id : `${id}-${before}`
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

/** The words of a piece of HTML that `micromark` wrote. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<\/(?:td|th)>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot);/g, (_all, name: string) => ENTITIES[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
