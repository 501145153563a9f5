import { z } from 'zod'
import type { SourceIssue } from './source.ts'

/**
 * An event as the web API shows it (https://docs.sentry.io/api/events/) → an event as an SDK sends it. What the API shows
 * as interfaces in `entries` becomes fields again, and camel case becomes snake case where it holds code.
 */

type Fields = Record<string, unknown>

const loose = z.record(z.string(), z.unknown())
const ApiEvent = z.looseObject({
  eventID: z.string().optional(),
  id: z.string().optional(),
  dateCreated: z.string().nullish(),
  dateReceived: z.string().nullish(),
  platform: z.string().nullish(),
  message: z.string().nullish(),
  title: z.string().nullish(),
  dist: z.union([z.string(), z.looseObject({})]).nullish(),
  tags: z.array(z.looseObject({ key: z.string(), value: z.unknown().optional() })).catch([]),
  contexts: loose.nullish().catch(null),
  context: loose.nullish().catch(null),
  user: loose.nullish().catch(null),
  sdk: loose.nullish().catch(null),
  packages: loose.nullish().catch(null),
  release: z
    .union([z.string(), z.looseObject({ version: z.string() })])
    .nullish()
    .catch(null),
  entries: z.array(z.looseObject({ type: z.string(), data: z.unknown().optional() })).catch([]),
})

/** An event to record, with the time of its receipt. */
export type ReadEvent = { readonly eventId: string; readonly body: Buffer; readonly receivedAtMs: number }

/** @returns null for what is no event, or has no time */
export function readEvent(given: unknown): ReadEvent | null {
  const parsed = ApiEvent.safeParse(given)
  if (!parsed.success) return null
  const event = parsed.data
  const eventId = (event.eventID ?? event.id ?? '').replaceAll('-', '').toLowerCase()
  const happenedMs = Date.parse(event.dateCreated ?? event.dateReceived ?? '')
  if (!/^[0-9a-f]{32}$/.test(eventId) || Number.isNaN(happenedMs)) return null
  const receivedMs = Date.parse(event.dateReceived ?? '')
  const tags = Object.fromEntries(event.tags.map(({ key, value }) => [key, value]))
  const entries = new Map(event.entries.map(({ type, data }) => [type, data]))
  const exception = valuesOf(entries.get('exception')).map(codeOf)
  const threads = valuesOf(entries.get('threads')).map(codeOf)
  const body = {
    event_id: eventId,
    timestamp: new Date(happenedMs).toISOString(),
    platform: event.platform ?? 'other',
    level: tags['level'],
    logger: tags['logger'],
    environment: tags['environment'],
    server_name: tags['server_name'],
    transaction: tags['transaction'],
    release: typeof event.release === 'string' ? event.release : (event.release?.version ?? tags['release']),
    dist: typeof event.dist === 'string' ? event.dist : tags['dist'],
    tags: Object.fromEntries(Object.entries(tags).filter(([key]) => !OWN_TAGS.has(key))),
    contexts: event.contexts ?? undefined,
    extra: event.context ?? undefined,
    user: userOf(event.user),
    sdk: event.sdk ?? undefined,
    modules: event.packages ?? undefined,
    logentry: messageOf(entries.get('message'), event, exception.length > 0),
    exception: exception.length === 0 ? undefined : { values: exception },
    threads: threads.length === 0 ? undefined : { values: threads },
    stacktrace: exception.length === 0 ? stackOf(entries.get('stacktrace')) : undefined,
    breadcrumbs: breadcrumbsOf(entries.get('breadcrumbs')),
    request: requestOf(entries.get('request')),
    debug_meta: entries.get('debugmeta'),
  }
  const isReceived = !Number.isNaN(receivedMs) && receivedMs >= happenedMs
  return {
    eventId,
    body: Buffer.from(JSON.stringify(body)),
    receivedAtMs: isReceived ? receivedMs : happenedMs,
  }
}

/** Tags that the API makes of fields. */
const OWN_TAGS: ReadonlySet<string> = new Set([
  'level',
  'logger',
  'environment',
  'server_name',
  'transaction',
  'release',
  'dist',
  'user',
  'sentry:user',
])

const valuesOf = (data: unknown): Fields[] => {
  const parsed = z.looseObject({ values: z.array(z.unknown()) }).safeParse(data)
  return parsed.success ? recordsOf(parsed.data.values) : []
}

const recordsOf = (values: readonly unknown[]): Fields[] =>
  values.map(recordOf).filter((value): value is Fields => value !== undefined)

const recordOf = (value: unknown): Fields | undefined => {
  const parsed = loose.safeParse(value)
  return parsed.success ? parsed.data : undefined
}

/** An exception or a thread. */
function codeOf({ stacktrace, rawStacktrace, threadId, ...rest }: Fields): Fields {
  const stack = stackOf(stacktrace) ?? stackOf(rawStacktrace)
  return { ...rest, thread_id: threadId ?? undefined, stacktrace: stack }
}

function stackOf(given: unknown): { frames: Fields[] } | undefined {
  const frames = recordOf(given)?.['frames']
  if (!Array.isArray(frames)) return undefined
  return { frames: recordsOf(frames).map(frameOf) }
}

const Lines = z.array(z.tuple([z.number(), z.string().nullable()])).catch([])

function frameOf(frame: Fields): Fields {
  const lineNo = frame['lineNo']
  const lines = Lines.parse(frame['context'] ?? [])
  const textAt = (wanted: (line: number) => boolean) =>
    lines.filter(([line]) => wanted(line)).map(([, code]) => code ?? '')
  const own = typeof lineNo === 'number' ? lineNo : null
  return {
    filename: frame['filename'],
    abs_path: frame['absPath'],
    module: frame['module'],
    package: frame['package'],
    platform: frame['platform'],
    function: frame['function'],
    lineno: lineNo,
    colno: frame['colNo'],
    in_app: frame['inApp'],
    instruction_addr: frame['instructionAddr'],
    vars: frame['vars'],
    ...(own === null || lines.length === 0
      ? {}
      : {
          pre_context: textAt((line) => line < own),
          context_line: textAt((line) => line === own)[0],
          post_context: textAt((line) => line > own),
        }),
  }
}

function messageOf(entry: unknown, event: z.infer<typeof ApiEvent>, hasException: boolean): unknown {
  const formatted = recordOf(entry)?.['formatted']
  const text = typeof formatted === 'string' && formatted !== '' ? formatted : event.message
  if (text != null && text !== '') return { formatted: text }
  return hasException ? undefined : { formatted: event.title ?? '(no message)' }
}

function breadcrumbsOf(entry: unknown): unknown {
  const values = valuesOf(entry)
  return values.length === 0 ? undefined : { values: values.map(({ event_id: _event, ...crumb }) => crumb) }
}

/** Lists of pairs become objects. */
function requestOf(entry: unknown): unknown {
  const request = recordOf(entry)
  if (request === undefined) return undefined
  const { url, method, data, query, headers, cookies, env } = request
  return { url, method, data, query_string: query, headers, cookies, env }
}

function userOf(user: Fields | null | undefined): unknown {
  if (user == null) return undefined
  const { id, email, username, ip_address: ip, name, geo, data } = user
  return { ...recordOf(data), id, email, username, ip_address: ip, name, geo }
}

/** An event for an issue whose events are gone at the source: its title, and nothing invented. */
export function eventFromIssue(issue: SourceIssue, eventId: string): ReadEvent {
  const { metadata, level, platform, culprit, lastSeen } = issue
  const body = {
    event_id: eventId,
    timestamp: lastSeen.toISOString(),
    platform: platform ?? 'other',
    level: level ?? 'error',
    transaction: culprit === null || culprit === '' ? undefined : culprit,
    tags: { imported: 'without events' },
    ...(metadata.type === undefined
      ? { logentry: { formatted: issue.title } }
      : { exception: { values: [{ type: metadata.type, value: metadata.value }] } }),
  }
  return { eventId, body: Buffer.from(JSON.stringify(body)), receivedAtMs: lastSeen.getTime() }
}
