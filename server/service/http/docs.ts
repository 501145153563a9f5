import { readFileSync } from 'node:fs'
import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Admission } from './api-limit.ts'

type StaticDocument = StaticDocumentSpec['document']
const isObject = (value: unknown): boolean => typeof value === 'object'

/** A test compares it with the contract: making it of the contract takes a fifth of a second of every start. */
const DOCUMENT = new URL('../../../docs/openapi.json', import.meta.url)

/**
 * `GET /api/openapi.json`, and the API documentation at `/docs`, which loads nothing from other hosts.
 * @param admit counts a request for the limit of its address
 */
export async function registerDocs(
  fastify: FastifyInstance,
  admit: (request: FastifyRequest) => Admission,
): Promise<void> {
  const document = z.custom<StaticDocument>(isObject).parse(JSON.parse(readFileSync(DOCUMENT, 'utf8')))
  // One buffer for all answers: a string is copied for each client that reads slowly.
  const bytes = Buffer.from(JSON.stringify(document))
  const limit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    void reply.headers(admit(request).headers())
  }
  const sendDocument = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(bytes)
  fastify.get('/api/openapi.json', { onRequest: limit }, sendDocument)
  let yaml: Buffer | undefined
  await fastify.register(async (docs) => {
    docs.addHook('onRequest', limit)
    // The plugin serialises the document for each request, and they need no session.
    docs.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.url === '/docs/json') return sendDocument(request, reply)
      if (request.routeOptions.url !== '/docs/yaml') return undefined
      yaml ??= Buffer.from(docs.swagger({ yaml: true }))
      return reply.header('cache-control', 'no-cache').type('application/x-yaml').send(yaml)
    })
    await docs.register(swagger, {
      mode: 'static',
      specification: { document },
    })
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      uiConfig: { docExpansion: 'list', deepLinking: true },
    })
  })
}
