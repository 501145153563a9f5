import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { isLoopbackHost, type Config } from '../../config/config.ts'
import { notFound, unauthenticated } from '../../platform/kernel/errors.ts'
import type { ReadMetric } from './otlp-metrics.ts'

/** One sample of `/-/metrics`, read at each request. */
export type Figure = {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}
export type MetricsSource = { figures(): Promise<readonly Figure[]> }

/** Figures that requests add to the metrics. */
export type RequestMetrics = {
  /** A request that needs an actor was authenticated and authorised, or refused. */
  authenticated(tookMs: number): void
}
type Metrics = RequestMetrics & {
  /** Everything that `/-/metrics` has. */
  read(): Promise<ReadMetric[]>
}

/** `GET /-/metrics`, Prometheus text: with `Authorization: Bearer METRICS_TOKEN`; in relaxed mode also from loopback. */
export function registerMetrics(fastify: FastifyInstance, config: Config, source: MetricsSource): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'faultline_http_request_duration_seconds',
    help: 'Product API and pages, by route and status.',
    labelNames: ['route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  const authentication = new Histogram({
    name: 'faultline_http_authentication_seconds',
    help: 'The authentication step of a request: token or API key, session, membership, permission.',
    buckets: [0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.00075, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1],
    registers: [registry],
  })
  fastify.addHook('onResponse', (request, reply, done) => {
    durations.observe(
      { route: request.routeOptions.url ?? 'none', status: String(reply.statusCode) },
      reply.elapsedTime / 1000,
    )
    done()
  })
  fastify.get('/-/metrics', async (request, reply) => {
    if (config.metricsToken === null) {
      // Behind a proxy every client looks like loopback, and not every proxy says that it is one.
      if (
        config.mode === 'strict' ||
        !isLoopbackHost(request.raw.socket.remoteAddress?.replace('::ffff:', '') ?? '') ||
        request.headers['x-forwarded-for'] !== undefined
      )
        throw notFound('Page')
    } else if (!sameText(request.headers.authorization ?? '', `Bearer ${config.metricsToken}`)) {
      throw unauthenticated('Send METRICS_TOKEN as a bearer token.')
    }
    return reply
      .header('content-type', registry.contentType)
      .send((await registry.metrics()) + (await (await figuresRegistry(source)).metrics()))
  })
  return {
    authenticated: (tookMs) => authentication.observe(tookMs / 1000),
    read: async () => [
      ...(await registry.getMetricsAsJSON()),
      ...(await (await figuresRegistry(source)).getMetricsAsJSON()),
    ],
  }
}

async function figuresRegistry(source: MetricsSource): Promise<Registry> {
  const registry = new Registry()
  const metrics = new Map<string, Counter | Gauge>()
  for (const figure of await source.figures()) {
    const options = {
      name: figure.name,
      help: figure.help,
      labelNames: Object.keys(figure.labels ?? {}),
      registers: [registry],
    }
    const metric = metrics.get(figure.name) ?? (figure.kind === 'counter' ? new Counter(options) : new Gauge(options))
    metrics.set(figure.name, metric)
    metric.inc({ ...figure.labels }, figure.value)
  }
  return registry
}

const sameText = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())
