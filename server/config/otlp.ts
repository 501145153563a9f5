import { ConfigError, list, type Settings } from './environment.ts'

/** Export of metrics by OTLP over HTTP, in JSON. */
export type OtlpSettings = {
  readonly url: string
  /** Secret. */
  readonly headers: Readonly<Record<string, string>>
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Attributes of the resource, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>
}

/** The names and meanings of OpenTelemetry. @throws ConfigError when headers or attributes are no list of pairs */
export function readOtlp(env: Settings): OtlpSettings | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: own } = env
  const url = own ?? (base === undefined ? undefined : `${base}/v1/metrics`)
  if (url === undefined || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null
  const headers = pairsOf('OTEL_EXPORTER_OTLP_HEADERS', env)
  if (!Object.entries(headers).every(([name, value]) => /^[\w.-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value)))
    throw new ConfigError(
      'OTEL_EXPORTER_OTLP_HEADERS must hold names and printable values, such as authorization=Bearer%20x.',
    )
  const attributes = pairsOf('OTEL_RESOURCE_ATTRIBUTES', env)
  const name = env.OTEL_SERVICE_NAME ?? attributes['service.name'] ?? 'faultline'
  return Object.freeze({
    url,
    headers,
    intervalMs: env.OTEL_METRIC_EXPORT_INTERVAL,
    timeoutMs: env.OTEL_EXPORTER_OTLP_TIMEOUT,
    resource: { ...attributes, 'service.name': name },
  })
}

/** `name=value,name=value` with percent-encoded values. @throws ConfigError without the value */
function pairsOf(
  setting: 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES',
  env: Settings,
): Record<string, string> {
  try {
    return Object.fromEntries(
      list(env[setting] ?? '').map((pair) => {
        const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
        if (name === '') throw new URIError(pair)
        return [decodeURIComponent(name.trim()), decodeURIComponent(value.trim())]
      }),
    )
  } catch {
    throw new ConfigError(`${setting} must be name=value pairs separated by commas, with values percent-encoded.`)
  }
}
