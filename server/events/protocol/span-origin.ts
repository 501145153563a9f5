import { browserMemory, deviceClass } from './device-class.ts'
import { isRecord } from './json.ts'
import { Notes } from './notes.ts'
import { readEnvironment, readRelease } from './release.ts'
import { displayName, isGenericName, pathOfUrl } from './span-name.ts'
import { unwrapAttribute, nameText, numberAttribute, textAttribute, type Span } from './span.ts'
import { agentDevice, agentOs, deviceName, osName, type Origin } from './transaction.ts'

/** Attributes with the origin of a separate span; for transactions it is in the event. */

const KEPT_TEXTS = [
  'sentry.op',
  'sentry.release',
  'sentry.environment',
  'os.name',
  'device.model',
  'device.family',
  'url.path',
  'http.route',
  'http.target',
  'url.full',
  'http.request.method',
]

/** The texts of a span that may be stored in a rollup, for the scrubber. Only numbers are read from the rest. */
export function scrubbableSpan(span: Span): Record<string, unknown> {
  const attributes: Record<string, unknown> = {}
  for (const key of KEPT_TEXTS) {
    const value = unwrapAttribute(span.attributes, key)
    if (value !== undefined) attributes[key] = value
  }
  // With the key of a route, because `/home/feed` is no home directory.
  return {
    transaction: span.name,
    attributes,
    segment: { transaction: unwrapAttribute(span.attributes, SEGMENT_NAME) },
  }
}

const SEGMENT_NAME = 'sentry.segment.name'

/** The span with its scrubbed texts; parts that {@link scrubbableSpan} did not pick are unchanged. */
export function withScrubbed(span: Span, clean: Record<string, unknown>): Span {
  const attributes = isRecord(clean['attributes']) ? clean['attributes'] : {}
  const segment = isRecord(clean['segment']) ? clean['segment'] : {}
  return {
    ...span,
    name: nameText(clean['transaction']),
    attributes: { ...span.attributes, ...attributes, [SEGMENT_NAME]: segment['transaction'] },
  }
}

/** Defaults from the envelope. */
export type OriginDefaults = { readonly release: unknown; readonly environment: unknown; readonly fallback: string }

export function spanOrigin({ attributes }: Span, defaults: OriginDefaults): Origin {
  const notes = new Notes()
  const memory = numberAttribute(attributes, 'device.memory_size')
  const estimated = browserMemory(unwrapAttribute(attributes, 'device.memory.estimated_capacity'))
  const os = textAttribute(attributes, 'os.name')
  const agent = isServer(attributes) ? null : textAttribute(attributes, 'user_agent.original')
  return {
    release: readRelease(textAttribute(attributes, 'sentry.release') ?? defaults.release, notes) ?? '',
    environment:
      readEnvironment(textAttribute(attributes, 'sentry.environment') ?? defaults.environment, notes) ??
      defaults.fallback,
    os: osName(os ?? agentOs(agent)),
    deviceClass: deviceClass(memory ?? estimated, numberAttribute(attributes, 'device.processor_count')),
    device:
      deviceName(textAttribute(attributes, 'device.model'), textAttribute(attributes, 'device.family')) ||
      agentDevice(agent),
  }
}

/** A server sends its visitor's browser, whose system is not where the time was spent. */
const isServer = (attributes: Span['attributes']): boolean =>
  textAttribute(attributes, 'sentry.kind') === 'server' ||
  textAttribute(attributes, 'sentry.op') === 'http.server' ||
  textAttribute(attributes, 'process.runtime.name') !== null ||
  textAttribute(attributes, 'process.runtime.engine.name') !== null

const BY_KIND = new Map([
  ['server', 'http.server'],
  ['consumer', 'queue.process'],
  ['producer', 'queue.publish'],
])
const MAX_OP = 64

/** The operation of a span; for OpenTelemetry by its kind. */
export function spanOp({ attributes }: Span): string {
  const op = nameText(unwrapAttribute(attributes, 'sentry.op')).replaceAll(/\s+/g, ' ')
  if (op !== '') return op.slice(0, MAX_OP)
  return BY_KIND.get(textAttribute(attributes, 'sentry.kind') ?? '') ?? 'default'
}

/** The name of a segment. */
export function segmentName(segment: Span): string {
  const { attributes } = segment
  const path = textAttribute(attributes, 'url.path') ?? pathOfUrl(textAttribute(attributes, 'url.full'))
  return displayName({ name: segment.name, source: textAttribute(attributes, 'sentry.segment.name.source'), path })
}

/** The segment of a span, by the span's attributes: its id, and its name if that is not generic. */
export function spanSegment(span: Span): {
  readonly spanId: string
  readonly name: string
  readonly isGeneric: boolean
} {
  const { attributes } = span
  const spanId =
    textAttribute(attributes, 'sentry.pageload.span_id') ??
    textAttribute(attributes, 'sentry.segment.id') ??
    span.parentSpanId
  const name = nameText(unwrapAttribute(attributes, SEGMENT_NAME))
  const path = textAttribute(attributes, 'url.path')
  return {
    spanId: spanId ?? span.spanId,
    // Old SDKs send the page of a web vital as URL; the source in the span belongs to its own name.
    name: displayName({ name, source: name.startsWith('/') ? 'url' : null, path }),
    isGeneric: name === '' || (isGenericName(name) && path === null),
  }
}
