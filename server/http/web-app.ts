import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

const DIST = fileURLToPath(new URL('../../web/dist/', import.meta.url))
const NONCE = '__CSP_NONCE__'

/** Serves the built dashboard: hashed files for ever, index.html for every address that is a page. */
export async function registerWebApp(fastify: FastifyInstance, dist = DIST): Promise<void> {
  const built = existsSync(`${dist}index.html`)
  const index = built ? readFileSync(`${dist}index.html`, 'utf8') : ''
  if (built) {
    await fastify.register(fastifyStatic, {
      root: dist,
      index: false,
      wildcard: false,
      globIgnore: ['index.html'],
      immutable: true,
      maxAge: '365d',
      setHeaders: (reply, path) => {
        if (!path.includes('/assets/')) void reply.header('cache-control', 'no-cache')
      },
    })
  }
  fastify.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (path === '/api' || path.startsWith('/api/'))
      return reply.code(404).send({ error: `There is no ${request.method} ${path.slice(0, 200)}. See /docs.` })
    const wantsPage = (request.method === 'GET' || request.method === 'HEAD') && !/\.[a-z0-9]{1,8}$/i.test(path)
    if (!wantsPage) return reply.code(404).send({ error: 'Page not found.' })
    if (!built)
      return reply
        .code(503)
        .type('text/plain')
        .send('The dashboard is not built. Run "npm run build", or start with "npm start".\n')
    const nonce = randomBytes(16).toString('base64')
    return reply
      .header('content-security-policy', pagePolicy(nonce))
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(index.replaceAll(NONCE, nonce))
  })
}

const pagePolicy = (nonce: string): string =>
  [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
