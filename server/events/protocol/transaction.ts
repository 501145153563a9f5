import { browserMemory, deviceClass, type DeviceClass } from './device-signals.ts'
import type { Event } from './event.api.ts'
import { isList, isRecord } from './json.ts'
import { Notes } from './strings.ts'
import { readEnvironment, readRelease } from './release.ts'
import { hasFailed, MAX_SPANS, nameText, finite, readBasis, readOldSpan, type InvalidSpan, type Span } from './span.ts'
import { readUserAgent } from './user-agent.ts'
import { userKey } from './user.ts'

/** A transaction (docs/protocol.md §10.1) as a segment, with its children. */
export type Transaction = {
  readonly segment: Span
  readonly children: readonly Span[]
  readonly origin: Origin
  /** By which its user is counted; null where it names none. */
  readonly userKey: string | null
}

/** The origin of a measurement, for filters. Unknown parts are empty. */
export type Origin = {
  readonly release: string
  readonly environment: string
  readonly os: string
  readonly deviceClass: DeviceClass
  /** Its model, else its family. */
  readonly device: string
}

/**
 * The parts of a transaction that may be stored in a rollup, in their places, for the scrubber. Only numbers are read
 * from the rest.
 */
export function scrubbableTransaction(raw: Record<string, unknown>): Record<string, unknown> {
  const contexts = recordOf(raw['contexts'])
  const trace = recordOf(contexts['trace'])
  const data = recordOf(trace['data'])
  const device = recordOf(contexts['device'])
  const { id, username, email } = recordOf(raw['user'])
  return {
    user: { id, username, email },
    transaction: raw['transaction'],
    release: raw['release'],
    environment: raw['environment'],
    contexts: {
      os: { name: recordOf(contexts['os'])['name'] },
      device: { model: device['model'], family: device['family'] },
      trace: { op: trace['op'], data: { 'url.path': data['url.path'], 'url.full': data['url.full'] } },
    },
  }
}

/**
 * Reads a transaction; returns a reason when it breaks a rule of docs/protocol.md §10.1. Pure, never throws.
 * @param clean the scrubbed result of {@link scrubbableTransaction}
 */
export function readTransaction(
  raw: Record<string, unknown>,
  clean: Record<string, unknown>,
  defaultEnvironment: string,
): Transaction | InvalidSpan {
  const contexts = recordOf(raw['contexts'])
  const trace = recordOf(contexts['trace'])
  const basis = readBasis({ ...trace, start_timestamp: raw['start_timestamp'] }, raw['timestamp'])
  if ('invalid' in basis) return basis
  const cleanTrace = recordOf(recordOf(clean['contexts'])['trace'])
  const data = recordOf(trace['data'])
  const segment: Span = {
    ...basis,
    name: nameText(clean['transaction']),
    status: hasFailed(trace['status']) ? 'error' : 'ok',
    isSegment: true,
    attributes: {
      ...data,
      ...recordOf(cleanTrace['data']),
      'sentry.op': cleanTrace['op'] ?? data['sentry.op'],
      'sentry.segment.name.source': sourceOf(raw, data),
      'app.vitals.start.type': recordOf(contexts['app'])['start_type'] ?? data['app.vitals.start.type'],
    },
    measurements: recordOf(raw['measurements']),
  }
  return {
    segment,
    children: childrenOf(raw['spans']),
    origin: originOf(raw, clean, data, defaultEnvironment),
    userKey: userKey(clean['user']),
  }
}

/**
 * The spans of a valid transaction, its own first; null for an invalid one. Their texts are not scrubbed.
 */
export function spansOfTransaction(raw: Record<string, unknown>): [Span, ...Span[]] | null {
  const transaction = readTransaction(raw, raw, '')
  return 'invalid' in transaction ? null : [transaction.segment, ...transaction.children]
}

function childrenOf(raw: unknown): Span[] {
  if (!isList(raw)) return []
  const children: Span[] = []
  for (const one of raw.slice(0, MAX_SPANS)) {
    const span = readOldSpan(one)
    // An invalid child does not affect its transaction.
    if (!('invalid' in span)) children.push(span)
  }
  return children
}

function sourceOf(raw: Record<string, unknown>, data: Record<string, unknown>): unknown {
  return recordOf(raw['transaction_info'])['source'] ?? data['sentry.segment.name.source'] ?? data['sentry.source']
}

function originOf(
  raw: Record<string, unknown>,
  clean: Record<string, unknown>,
  data: Record<string, unknown>,
  defaultEnvironment: string,
): Origin {
  const notes = new Notes()
  const contexts = recordOf(raw['contexts'])
  const device = recordOf(contexts['device'])
  const cleanContexts = recordOf(clean['contexts'])
  const os = recordOf(cleanContexts['os'])['name']
  const { model, family } = recordOf(cleanContexts['device'])
  const agent = raw['platform'] === 'javascript' ? requestUserAgent(recordOf(raw['request'])) : null
  const memory = finite(device['memory_size']) ?? browserMemory(data['deviceMemory'])
  const processors = finite(device['processor_count']) ?? finite(data['hardwareConcurrency'])
  return {
    release: readRelease(clean['release'], notes) ?? '',
    environment: readEnvironment(clean['environment'], notes) ?? defaultEnvironment,
    os: osName(typeof os === 'string' ? os : agentOs(agent)),
    deviceClass: deviceClass(memory, processors),
    device: deviceName(model, family) || agentDevice(agent),
  }
}

/** The origin of an error event, in the same words as the origin of a transaction. */
export function originOfEvent({ release, environment, contexts }: Event): Origin {
  const { os, device } = contexts
  const name = os?.['name']
  return {
    release: release ?? '',
    environment,
    os: osName(typeof name === 'string' ? name : null),
    deviceClass: deviceClass(finite(device?.['memory_size']), finite(device?.['processor_count'])),
    device: deviceName(device?.['model'], device?.['family']),
  }
}

/** The system in a browser's user agent. */
export const agentOs = (agent: string | null): string | null =>
  agent === null ? null : (readUserAgent(agent).os?.name ?? null)

/** The device in a browser's user agent; empty when it names none. */
export function agentDevice(agent: string | null): string {
  const device = agent === null ? null : readUserAgent(agent).device
  return deviceName(device?.model, device?.family)
}

/** A device's name for filters: its model, else its family; empty without both. */
export const deviceName = (model: unknown, family: unknown): string => trait(nameText(model) || nameText(family))

const MAX_TRAIT = 64
const trait = (name: string): string => name.replaceAll(/\s+/g, ' ').slice(0, MAX_TRAIT)

/** An operating system's name for filters. */
export const osName = (name: string | null): string => trait(nameText(name))

/** The user agent of a request in the payload; null without one. */
export function requestUserAgent(request: Record<string, unknown>): string | null {
  const { headers } = request
  const pairs: Iterable<unknown> = isList(headers) ? headers : isRecord(headers) ? Object.entries(headers) : []
  for (const pair of pairs) {
    if (!isList(pair) || typeof pair[0] !== 'string' || pair[0].toLowerCase() !== 'user-agent') continue
    return typeof pair[1] === 'string' ? pair[1] : null
  }
  return null
}

const NOTHING: Record<string, unknown> = {}
const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : NOTHING)
