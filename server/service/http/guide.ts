import { readFile, stat } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { escapeHtml } from './escape-html.ts'
import { GuideIndex, searchedWords, searchGuide } from './guide-search.ts'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')
const MAX_TYPED = 200

/** Stands in `results.html` for what the service fills in, as HTML: the typed text, a title and results. */
export const SEARCH_SLOTS = { query: '<!--query-->', title: '<!--title-->', results: '<!--results-->' } as const

/**
 * The guide at `/docs/guide`: pages that the build wrote below `docs/guide/` of the dashboard, and a search in them. They
 * describe the product and hold nothing of an installation, so they need no session.
 * @param limit counts a request for the limit of its address
 */
export function registerGuide(fastify: FastifyInstance, dist: string, limit: Hook): void {
  const folder = `${dist}docs/guide/`
  const readIndex = indexReader(`${folder}sections.json`)
  const send = (reply: FastifyReply, name: string): FastifyReply =>
    reply.header('content-security-policy', POLICY).sendFile(`docs/guide/${name}.html`)
  const sendResults = async (reply: FastifyReply, fill: Fill): Promise<FastifyReply> => {
    const page = await readFile(`${folder}results.html`, 'utf8').catch(() => null)
    if (page === null) {
      reply.callNotFound()
      return reply
    }
    return reply
      .header('content-security-policy', POLICY)
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(
        page
          .replace(SEARCH_SLOTS.query, () => escapeHtml(fill.typed))
          .replace(SEARCH_SLOTS.title, () => escapeHtml(fill.title))
          .replace(SEARCH_SLOTS.results, () => fill.results),
      )
  }
  fastify.get('/docs/guide', { onRequest: limit }, async (request, reply) => {
    const typed = typedText(request)
    if (typed === null) return send(reply, 'index')
    const words = searchedWords(typed)
    const index = await readIndex()
    return sendResults(reply, resultsOf(typed, words, index === null ? [] : searchGuide(index, words)))
  })
  fastify.get<{ Params: { '*': string } }>('/docs/guide/*', { onRequest: limit }, async (request, reply) => {
    const name = request.params['*']
    if (name === '') return reply.redirect('/docs/guide', 301)
    const index = await readIndex()
    if (index === null || Object.hasOwn(index.titles, name)) return send(reply, name)
    const results = '<p>The list of contents has every page.</p>'
    return sendResults(reply.code(404), { typed: '', title: 'There is no such page', results })
  })
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
type Fill = { readonly typed: string; readonly title: string; readonly results: string }

/** The text of a search; null where none was asked for. */
function typedText({ query }: FastifyRequest): string | null {
  if (typeof query !== 'object' || query === null || !('q' in query)) return null
  return typeof query.q === 'string' ? query.q.slice(0, MAX_TYPED) : ''
}

function resultsOf(typed: string, words: readonly string[], hits: ReturnType<typeof searchGuide>): Fill {
  if (words.length === 0)
    return { typed, title: 'Search', results: '<p>Type words that a page contains, such as “retention days”.</p>' }
  const count = hits.length === 1 ? '1 result' : `${hits.length === 0 ? 'No' : hits.length} results`
  const rows = hits.map(({ page, id, title, heading, excerpt }) => {
    const name = id === '' ? title : `${title}: ${heading}`
    const href = `/docs/guide/${page}${id === '' ? '' : `#${encodeURIComponent(id)}`}`
    return `<li><a href="${href}">${escapeHtml(name)}</a><p>${marked(excerpt, words)}</p></li>`
  })
  return {
    typed,
    title: `${count} for “${typed}”`,
    results: rows.length === 0 ? '<p>Try fewer or other words.</p>' : `<ol class="results">${rows.join('')}</ol>`,
  }
}

/** The text as HTML, the words in it marked. */
function marked(text: string, words: readonly string[]): string {
  const pattern = new RegExp(`(${words.map((word) => RegExp.escape(word)).join('|')})`, 'giu')
  return text
    .split(pattern)
    .map((part, at) => (at % 2 === 0 ? escapeHtml(part) : `<mark>${escapeHtml(part)}</mark>`))
    .join('')
}

/** Reads the index once for each build: a running service serves a new build immediately. */
function indexReader(file: string): () => Promise<GuideIndex | null> {
  let known: { readonly builtMs: number; readonly index: GuideIndex } | null = null
  return async () => {
    const builtMs = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    )
    if (builtMs === null) return null
    if (known?.builtMs !== builtMs)
      known = { builtMs, index: GuideIndex.parse(JSON.parse(await readFile(file, 'utf8'))) }
    return known.index
  }
}
