import { apiSchemas } from './api-schemas.ts'
import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { contract } from './contract.ts'
import { openApiDocument } from './openapi.ts'

/** `GET /api/openapi.json`, and the API documentation at `/docs`, which loads nothing from other hosts. */
export async function registerDocs(fastify: FastifyInstance, version: string): Promise<void> {
  const document = openApiDocument(contract, apiSchemas, version)
  const text = JSON.stringify(document)
  fastify.get('/api/openapi.json', (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('application/json').send(text),
  )
  await fastify.register(async (docs) => {
    await docs.register(swagger, {
      mode: 'static',
      specification: {
        document: z.custom<StaticDocumentSpec['document']>((value) => typeof value === 'object').parse(document),
      },
    })
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      uiConfig: { docExpansion: 'list', deepLinking: true },
    })
  })
}
