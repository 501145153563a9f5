import type { FastifyInstance } from 'fastify'

export type Readiness = {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, { ok: boolean; detail?: string | number }>>
}

/** The source of `/readyz`. It must answer even when the database does not. */
export type Health = { readiness(): Promise<Readiness> }

/** `/healthz`: the process runs. `/readyz`: it can do its work. Both work without a session. */
export function registerHealth(fastify: FastifyInstance, health: Health): void {
  fastify.get('/healthz', (_request, reply) => reply.header('cache-control', 'no-store').send({ ok: true }))
  fastify.get('/readyz', async (_request, reply) => {
    const readiness = await health.readiness()
    if (!readiness.ready) void reply.header('retry-after', '5')
    return reply
      .header('cache-control', 'no-store')
      .code(readiness.ready ? 200 : 503)
      .send(readiness)
  })
}
