import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Answer, startReceiver } from '#test/kit/receiver.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { readConfig } from '../../config/config.ts'
import { sendEvent, anEvent } from '#test/kit/sdk.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { startService } from './service.ts'

/** As `opentelemetry/proto/metrics/v1/metrics.proto` in JSON: 64-bit numbers are text, and nothing else is there. */
const Long = z.string().regex(/^\d+$/)
const attributes = z.array(
  z.strictObject({ key: z.string().min(1), value: z.strictObject({ stringValue: z.string() }) }),
)
const NumberPoint = z.strictObject({
  attributes,
  startTimeUnixNano: Long.optional(),
  timeUnixNano: Long,
  asDouble: z.number(),
})
const HistogramPoint = z.strictObject({
  attributes,
  startTimeUnixNano: Long,
  timeUnixNano: Long,
  count: Long,
  sum: z.number(),
  bucketCounts: z.array(Long),
  explicitBounds: z.array(z.number()),
})
const Metric = z.strictObject({
  name: z.string(),
  description: z.string(),
  unit: z.string().optional(),
  gauge: z.strictObject({ dataPoints: z.array(NumberPoint).min(1) }).optional(),
  sum: z
    .strictObject({
      dataPoints: z.array(NumberPoint.required()).min(1),
      aggregationTemporality: z.literal(2),
      isMonotonic: z.literal(true),
    })
    .optional(),
  histogram: z
    .strictObject({ dataPoints: z.array(HistogramPoint).min(1), aggregationTemporality: z.literal(2) })
    .optional(),
})
const Export = z.strictObject({
  resourceMetrics: z.tuple([
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeMetrics: z.tuple([
        z.strictObject({ scope: z.strictObject({ name: z.literal('faultline') }), metrics: z.array(Metric) }),
      ]),
    }),
  ]),
})

const { app, connectionString, logLines } = await testApp({ realTime: true })
const answers: Answer[] = []
const collector = await startReceiver({ respond: () => answers.shift() ?? 200 })
afterAll(() => collector.close())

const environment = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret%2C1, x-tenant=a',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
  OTEL_SERVICE_NAME: 'errors',
}
/** Sends ten times a second. */
const start = () => {
  const { otlp } = readConfig(environment)
  const config = { ...app.config, otlp: otlp && { ...otlp, intervalMs: 100 } }
  return startService({ ...app, config }, connectionString, { digestion: 'inline' })
}

const parsed = (index: number) => Export.parse(JSON.parse(collector.requests.at(index)?.body.toString() ?? ''))
const metricsOf = (sent: z.infer<typeof Export>) =>
  new Map(sent.resourceMetrics[0].scopeMetrics[0].metrics.map((metric) => [metric.name, metric]))

test('figures arrive as OTLP: counters since the start, gauges, histograms with a count for each bucket', async () => {
  const service = await start()
  const project = await aProject(await aFounder(service.publicUrl))
  await sendEvent(service.publicUrl, project.dsn, anEvent())
  await waitFor('an export', () => collector.requests.length > 0)
  await service.close()
  const [request] = collector.requests
  expect(request).toMatchObject({ method: 'POST', path: '/otlp/v1/metrics' })
  expect(request?.headers).toMatchObject({ authorization: 'Bearer secret,1', 'x-tenant': 'a' })
  // The last one, of the stop, has everything.
  const sent = parsed(-1)
  const resource = sent.resourceMetrics[0].resource.attributes.map(({ key, value }) => [key, value.stringValue])
  expect(Object.fromEntries(resource)).toMatchObject({
    'service.name': 'errors',
    'service.version': app.config.version,
    'deployment.environment.name': 'test',
  })
  const metrics = metricsOf(sent)
  expect(metrics.get('faultline_intake_accepted_total')?.sum?.dataPoints).toMatchObject([{ asDouble: 1 }])
  expect(metrics.get('faultline_spool_open')?.gauge?.dataPoints).toMatchObject([{ asDouble: 1 }])
  expect(metrics.get('process_resident_memory_bytes')).toMatchObject({ unit: 'By' })
  for (const name of ['faultline_intake_latency_seconds', 'faultline_http_request_duration_seconds']) {
    const points = metrics.get(name)?.histogram?.dataPoints ?? []
    expect(points.length).toBeGreaterThan(0)
    for (const { count, bucketCounts, explicitBounds } of points) {
      expect(bucketCounts.length).toBe(explicitBounds.length + 1)
      expect(bucketCounts.reduce((sum, n) => sum + Number(n), 0)).toBe(Number(count))
      expect(explicitBounds).toEqual([...explicitBounds].sort((a, b) => a - b))
    }
  }
  expect([...metrics.keys()].filter((name) => name.endsWith('_bucket'))).toEqual([])
})

test('a collector that fails gets a later attempt with everything, and the log has one line', async () => {
  const before = collector.requests.length
  answers.push(503, { fault: 'reset' }, 429)
  const service = await start()
  await waitFor('an export that succeeds', () => collector.requests.length >= before + 4)
  await waitFor('the line', () => logLines.some(({ msg }) => msg === 'metrics are exported again'))
  await service.close()
  const failures = logLines.filter(({ msg }) => String(msg).startsWith('metrics could not be exported'))
  expect(failures).toHaveLength(1)
  expect(JSON.stringify(logLines)).not.toContain('secret,1')
})

test('a collector that does not answer holds up no stop', async () => {
  answers.push({ fault: 'hang' }, { fault: 'hang' })
  const before = collector.requests.length
  const service = await start()
  await waitFor('a request', () => collector.requests.length > before)
  const startedMs = performance.now()
  await service.close()
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})

test('settings: off without an endpoint; the address of metrics as it is; secrets are not shown', () => {
  expect(readConfig({ OTEL_SERVICE_NAME: 'x', OTEL_RESOURCE_ATTRIBUTES: 'nonsense' }).otlp).toBeNull()
  expect(readConfig({ ...environment, OTEL_SDK_DISABLED: 'true' }).otlp).toBeNull()
  expect(readConfig({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://c.internal:4318/own' }).otlp).toMatchObject({
    url: 'http://c.internal:4318/own',
    intervalMs: 60_000,
    resource: { 'service.name': 'faultline' },
  })
  const wrong = { ...environment, OTEL_EXPORTER_OTLP_HEADERS: 'topsecret' }
  expect(() => readConfig(wrong)).toThrow('OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs')
  expect(() => readConfig(wrong)).not.toThrow('topsecret')
})
