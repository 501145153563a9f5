import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { GUIDE_GROUPS } from './contents.ts'
import { entranceDocument, pageDocument, searchDocument, type GuideAssets } from './frame.ts'
import { renderPage, type GuidePage } from './render.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The sheets of the guide; the first two are those of the dashboard. */
const SHEETS = ['web/ui/tokens.css', 'web/ui/base.css', 'scripts/guide/guide.css']

/** Every page of `docs/`, rendered, by its name. */
export function renderGuide(): Map<string, GuidePage> {
  const sources = readdirSync(join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => [file.slice(0, -'.md'.length), read(`docs/${file}`)] as const)
  const titles = new Map(sources.map(([name, source]) => [name, /^# (.+)/.exec(source)?.[1] ?? name]))
  return new Map(sources.map(([name, source]) => [name, renderPage(name, source, (other) => titles.get(other))]))
}

/** Files of the guide below `docs/guide/`, by their names: pages, the entrance, the page of results, and what is searched. */
export function guideFiles(assets: GuideAssets): Record<string, string> {
  const pages = renderGuide()
  const site = { groups: GUIDE_GROUPS, pages, assets }
  const listed = GUIDE_GROUPS.flatMap((group) => group.pages).flatMap((name) => pages.get(name) ?? [])
  const titles = Object.fromEntries(listed.map(({ name, title }) => [name, title]))
  return {
    'index.html': entranceDocument(site),
    'results.html': searchDocument(site),
    'sections.json': JSON.stringify({ titles, sections: listed.flatMap(({ sections }) => sections) }),
    ...Object.fromEntries(listed.map((page) => [`${page.name}.html`, pageDocument(site, page)])),
  }
}

/** Adds the guide to the build of the dashboard, so that every way of installing has it. */
export const guide: Plugin = {
  name: 'guide',
  apply: 'build',
  generateBundle() {
    const emit = (name: string, source: string): string =>
      `/${this.getFileName(this.emitFile({ type: 'asset', name, source }))}`
    const assets = {
      css: emit(
        'guide.css',
        SHEETS.map(read)
          .join('\n')
          .replaceAll(/\/\*[\s\S]*?\*\//g, '')
          .replaceAll(/\n\s*/g, '\n'),
      ),
      js: emit('guide.js', read('scripts/guide/guide.js')),
    }
    for (const [name, source] of Object.entries(guideFiles(assets)))
      this.emitFile({ type: 'asset', fileName: `docs/guide/${name}`, source })
  },
}
