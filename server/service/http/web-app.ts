import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const DIST = fileURLToPath(new URL('../../../web/dist/', import.meta.url))
/** Pages of mailed links: the secret in their address must not reach other sites. */
const LINK_PAGES = new Set(['/reset', '/invite', '/confirm-email'])
const NONCE = '__CSP_NONCE__'

/**
 * Serves the built dashboard: hashed files, cached for a year, and index.html for every page. Files are looked up at each
 * request, so that a running service serves a new build immediately.
 */
export async function registerWebApp(fastify: FastifyInstance, dist = DIST): Promise<void> {
  const hashed = join(dist, 'assets')
  await fastify.register(fastifyStatic, {
    root: dist,
    index: false,
    immutable: true,
    // The build writes compressed files beside the originals: 700 kB of code become 200 kB.
    preCompressed: true,
    maxAge: '365d',
    // Files of the build itself.
    dotfiles: 'ignore',
    setHeaders: (reply, path) => {
      if (dirname(path) !== hashed) void reply.header('cache-control', 'no-cache')
    },
  })
  // The page needs its content security policy, which the static files do not have.
  fastify.get('/index.html', (_request, reply) => reply.redirect('/', 301))
  // The static plugin answers 403 for a folder.
  fastify.get('/', (_request, reply) => sendPage(reply, dist))
  const answerUnknown = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (path === '/api' || path.startsWith('/api/')) {
      return reply.code(404).send({ error: `There is no ${request.method} ${path.slice(0, 200)}. See /docs.` })
    }
    const wantsPage =
      (request.method === 'GET' || request.method === 'HEAD') &&
      !/\.[a-z0-9]{1,8}$/i.test(path) &&
      !path.startsWith('/.well-known/')
    if (!wantsPage) return reply.code(404).send({ error: 'Page not found.' })
    if (LINK_PAGES.has(path)) void reply.header('referrer-policy', 'no-referrer')
    return sendPage(reply, dist)
  }
  fastify.setNotFoundHandler(answerUnknown)
  // Before the body is read: whether it could be parsed does not matter for a path that is not there.
  fastify.addHook('onRequest', async (request, reply) => (request.is404 ? answerUnknown(request, reply) : undefined))
}

async function sendPage(reply: FastifyReply, dist: string): Promise<FastifyReply> {
  const index = await readFile(`${dist}index.html`, 'utf8').catch(() => null)
  if (index === null) {
    const help = 'The dashboard is not built. Run "npm run build", or start with "npm start".\n'
    return reply.code(503).type('text/plain').send(help)
  }
  const nonce = randomBytes(16).toString('base64')
  return reply
    .header('content-security-policy', pagePolicy(nonce))
    .header('cache-control', 'no-cache')
    .type('text/html; charset=utf-8')
    .send(index.replaceAll(NONCE, nonce))
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
