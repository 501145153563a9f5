import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'

const DIST = fileURLToPath(new URL('../../web/dist/', import.meta.url))
const NONCE = '__CSP_NONCE__'

/**
 * Serves the built dashboard: hashed files for ever, index.html for every address that is a page. Files are looked up
 * when asked for, so that a build under a running service is served at once.
 */
export async function registerWebApp(fastify: FastifyInstance, dist = DIST): Promise<void> {
  const hashed = join(dist, 'assets')
  await fastify.register(fastifyStatic, {
    root: dist,
    index: false,
    immutable: true,
    // The build leaves them beside the files: 700 kB of code are 200 on the way.
    preCompressed: true,
    maxAge: '365d',
    // What the build notes for itself.
    dotfiles: 'ignore',
    setHeaders: (reply, path) => {
      if (dirname(path) !== hashed) void reply.header('cache-control', 'no-cache')
    },
  })
  // The page comes with its policy, never bare from the folder.
  fastify.get('/index.html', (_request, reply) => reply.redirect('/', 301))
  // A folder is no file: the static side would refuse it.
  fastify.get('/', (_request, reply) => sendPage(reply, dist))
  fastify.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (path === '/api' || path.startsWith('/api/')) {
      return reply.code(404).send({ error: `There is no ${request.method} ${path.slice(0, 200)}. See /docs.` })
    }
    const wantsPage = (request.method === 'GET' || request.method === 'HEAD') && !/\.[a-z0-9]{1,8}$/i.test(path)
    if (!wantsPage) return reply.code(404).send({ error: 'Page not found.' })
    return sendPage(reply, dist)
  })
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
