import { escapeHtml } from '../../server/service/http/escape-html.ts'
import { SEARCH_SLOTS } from '../../server/service/http/guide.ts'
import type { GuideGroup } from './contents.ts'
import { GUIDE_PATH, type GuidePage } from './render.ts'

/** Addresses of the style sheet and the script, whose names hold a hash. */
export type GuideAssets = { readonly css: string; readonly js: string }

/** More headings than these get a list at the top of the page. */
const MIN_LISTED = 3

export type GuideSite = {
  readonly groups: readonly GuideGroup[]
  readonly pages: ReadonlyMap<string, GuidePage>
  readonly assets: GuideAssets
}

export const pageDocument = (site: GuideSite, page: GuidePage): string =>
  document(site, page.title, page.name, `<h1>${escapeHtml(page.title)}</h1>\n${onThisPage(page)}${page.html}`)

/** The entrance: every page with its first sentence. */
export function entranceDocument(site: GuideSite): string {
  const groups = site.groups.map(
    ({ title, about, pages }) =>
      `<section><h2>${title}</h2><p>${about}</p><dl>${pages
        .map((name) => {
          const page = pageOf(site, name)
          return `<div><dt><a href="${GUIDE_PATH}/${name}">${escapeHtml(page.title)}</a></dt><dd>${escapeHtml(page.about)}</dd></div>`
        })
        .join('')}</dl></section>`,
  )
  return document(
    site,
    'Documentation',
    '',
    `<h1>Documentation</h1>
<p>Every page is part of this installation and describes its version. The <a href="/docs">API reference</a> lists each endpoint.</p>
<div class="entrance">${groups.join('')}</div>`,
  )
}

/** The page of results; the service fills its slots. */
export const searchDocument = (site: GuideSite): string =>
  document(site, 'Search', '', `<h1>${SEARCH_SLOTS.title}</h1>\n${SEARCH_SLOTS.results}`).replace(
    'name="q" value=""',
    `name="q" value="${SEARCH_SLOTS.query}"`,
  )

function pageOf({ pages }: GuideSite, name: string): GuidePage {
  const page = pages.get(name)
  if (page === undefined) throw new Error(`there is no docs/${name}.md`)
  return page
}

function onThisPage({ headings }: GuidePage): string {
  const listed = headings.filter(({ level }) => level === 2)
  if (listed.length < MIN_LISTED) return ''
  const links = listed.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
  return `<nav class="onpage" aria-label="On this page"><ul>${links.join('')}</ul></nav>\n`
}

function document(site: GuideSite, title: string, here: string, main: string): string {
  const groups = site.groups.map(({ title: group, pages }) => {
    const links = pages.map((name) => {
      const current = name === here ? ' aria-current="page"' : ''
      return `<li><a href="${GUIDE_PATH}/${name}"${current}>${escapeHtml(pageOf(site, name).title)}</a></li>`
    })
    return `<h2>${group}</h2><ul>${links.join('')}</ul>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Faultline</title>
<link rel="icon" href="/mark.svg" type="image/svg+xml">
<script src="/theme.js"></script>
<link rel="stylesheet" href="${site.assets.css}">
<script src="${site.assets.js}" defer></script>
</head>
<body>
<header>
<a class="brand" href="/"><img src="/mark.svg" alt="" width="20" height="20">Faultline</a>
<a href="${GUIDE_PATH}">Documentation</a>
<a href="/docs">API reference</a>
<a class="narrow" href="#contents">Contents</a>
<form role="search" action="${GUIDE_PATH}"><input type="search" name="q" value="" aria-label="Search the documentation" placeholder="Search" maxlength="200" autocomplete="off" aria-keyshortcuts="/"></form>
</header>
<div class="columns">
<main id="main" tabindex="-1">
${main}
</main>
<nav id="contents" aria-label="Contents">${groups.join('')}</nav>
</div>
</body>
</html>
`
}
