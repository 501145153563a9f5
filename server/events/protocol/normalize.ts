import { readBreadcrumbs } from './breadcrumbs.ts'
import { addAgentContexts, readContexts } from './contexts.ts'
import type { Event } from './event.api.ts'
import { attachRawStacks, attachStacks, isUnhandled, readExceptions, readThreads, type RawStack } from './exceptions.ts'
import { textField } from './fields.ts'
import { readStacktrace, type FrameSetting } from './frames.ts'
import { imageRanges, readImages } from './images.ts'
import { cleanRecord, isList, isRecord, isSafeKey, JsonBudget } from './json.ts'
import { eventCulprit, leadingStack, namingException, eventTitle } from './labels.ts'
import { parseLevel } from './level.ts'
import { readMessage } from './message.ts'
import { Notes } from './notes.ts'
import { readDist, readEnvironmentOrTag, readRelease } from './release.ts'
import { findHeader, readRequest } from './request.ts'
import { cut, tidy } from './strings.ts'
import { readTags } from './tags.ts'
import { eventTime, isoTime } from './time.ts'
import { readUser } from './user.ts'

/** Context of an event from its envelope and connection. */
export type NormalizeContext = {
  /** 32 lower-case hexadecimal digits; the payload's id is not read. */
  eventId: string
  receivedAt: Date
  sentAt: Date | null
  clientIp: string | null
  /** The user agent of the request; only meaningful from a browser. */
  userAgent: string | null
  /** For events without environment; default `production`. */
  defaultEnvironment?: string
  /**
   * Leaves out fields that are only for display (breadcrumbs, lines around frames, variables, registers, extra,
   * modules) and their notes in `errors`. Digestion does not read them, and it stores the payload, not the event.
   */
  onlyDecisive?: boolean
}

const EVENT_TYPES = new Set(['csp', 'hpkp', 'expectct', 'expectstaple', 'nel', 'feedback', 'transaction'])

const EXTRA_CHARACTERS = 256 * 1024
const MODULES_CHARACTERS = 8 * 1024
const OTHER_CHARACTERS = 256 * 1024

/**
 * Normalises a payload: unifies the spellings of all clients, applies limits, and drops wrong types with a note in
 * `errors`. Accepts any JSON, never throws, does not modify `raw`, and is deterministic, because it runs again whenever a
 * stored event is read.
 */
export function normalizeEvent(raw: Record<string, unknown>, context: NormalizeContext): Event {
  const notes = new Notes()
  const withDetail = context.onlyDecisive !== true
  const time = eventTime(raw['timestamp'], context.receivedAt, context.sentAt, notes)
  const sdk = readSdk(raw['sdk'], notes)
  const platform = readPlatform(raw['platform'], sdk, notes)

  const images = readImages(raw['debug_meta'], new JsonBudget(OTHER_CHARACTERS), notes)
  const frames: FrameSetting = {
    platform,
    images: images.length === 0 ? [] : imageRanges(images),
    imageFiles: images.map((image) => (typeof image['code_file'] === 'string' ? image['code_file'] : null)),
    variables: new JsonBudget(OTHER_CHARACTERS),
    withDetail,
    notes,
  }
  const rawStacks: RawStack[] = []
  const exceptions = readExceptions(raw['exception'] ?? raw['sentry.interfaces.Exception'], frames, rawStacks)
  const threads = readThreads(raw['threads'], frames, rawStacks)
  const legacy = readStacktrace(raw['stacktrace'] ?? raw['sentry.interfaces.Stacktrace'], frames, 'stacktrace')
  attachStacks(exceptions, threads, legacy)
  attachRawStacks(rawStacks, frames)

  const text = readMessage(raw['logentry'], raw['message'] ?? raw['sentry.interfaces.Message'], notes)
  const naming = namingException(exceptions)
  const message = text.formatted ?? (naming === null ? (exceptions.at(-1)?.value ?? null) : null)

  const level = readLevel(raw['level'], notes)
  const type = readType(raw['type'], notes)
  const transaction = textField(raw['transaction'], 200, notes, 'transaction')
  const stack = naming?.stacktrace ?? leadingStack(exceptions, threads)

  const { tags, reserved } = readTags(raw['tags'], notes)
  const serverName = textField(raw['server_name'], 200, notes, 'server_name')
  if (serverName !== null && !tags.some((tag) => tag.key === 'server_name')) {
    tags.push({ key: 'server_name', value: serverName.replaceAll(/[\n\r]+/g, ' ') })
  }

  const rawRequest = raw['request'] ?? raw['sentry.interfaces.Http']
  const request = readRequest(rawRequest, new JsonBudget(OTHER_CHARACTERS), notes)
  const contexts = readContexts(raw['contexts'], new JsonBudget(OTHER_CHARACTERS), notes)
  const connectionAgent = platform === 'javascript' ? context.userAgent : null
  addAgentContexts(contexts, findHeader(request, 'user-agent') ?? connectionAgent, platform)

  return {
    event_id: context.eventId,
    received_at: isoTime(context.receivedAt.getTime()),
    occurred_at: isoTime(time.occurredAt),
    type,
    platform,
    level,
    title: eventTitle({ exception: naming, message, stack, type, platform }),
    culprit: eventCulprit(transaction ?? textField(raw['culprit'], 200, notes, 'culprit'), stack, {
      platform,
      level,
    }),
    logger: textField(raw['logger'], 128, notes, 'logger'),
    transaction,
    server_name: serverName,
    release: readRelease(raw['release'], notes) ?? readRelease(reserved.release, notes),
    dist: readDist(raw['dist'], notes) ?? readDist(reserved.dist, notes),
    environment:
      readEnvironmentOrTag(raw['environment'], reserved.environment, notes) ??
      context.defaultEnvironment ??
      'production',
    message,
    message_template: text.template,
    error_type: naming?.type ?? null,
    error_value: naming?.value ?? null,
    is_unhandled: isUnhandled(exceptions, level, platform),
    exceptions,
    threads,
    breadcrumbs: withDetail
      ? readBreadcrumbs(
          raw['breadcrumbs'] ?? raw['sentry.interfaces.Breadcrumbs'],
          time.shiftMs,
          new JsonBudget(OTHER_CHARACTERS),
          notes,
        )
      : [],
    tags,
    user: readUser(
      raw['user'] ?? raw['sentry.interfaces.User'],
      { clientIp: context.clientIp, inferIp: inferIpOf(raw['sdk']), platform, remoteAddr: remoteAddrOf(rawRequest) },
      notes,
    ),
    request,
    contexts,
    extra: (withDetail ? cleanRecord(raw['extra'], new JsonBudget(EXTRA_CHARACTERS), notes, 'extra') : null) ?? {},
    modules: withDetail ? readModules(raw['modules'], notes) : {},
    sdk,
    debug_images: images,
    fingerprint: readFingerprint(raw['fingerprint'], notes),
    errors: notes.list,
  }
}

function readLevel(raw: unknown, notes: Notes): Event['level'] {
  const level = parseLevel(raw)
  if (level !== null) return level
  if (raw !== null && raw !== undefined && raw !== '') notes.add('level', 'Unknown level; taken as error.')
  return 'error'
}

function readType(raw: unknown, notes: Notes): string {
  const type = textField(raw, 64, notes, 'type')
  return type !== null && EVENT_TYPES.has(type) ? type : 'error'
}

function readSdk(raw: unknown, notes: Notes): Event['sdk'] {
  if (raw === null || raw === undefined) return null
  if (!isRecord(raw)) {
    notes.add('sdk', 'Expected an object.')
    return null
  }
  const name = textField(raw['name'], 128, notes, 'sdk.name')
  const version = textField(raw['version'], 128, notes, 'sdk.version')
  return name === null && version === null ? null : { name, version }
}

/** In lower case; else derived from the SDK's name, else `other`. */
function readPlatform(raw: unknown, sdk: Event['sdk'], notes: Notes): string {
  const platform = textField(raw, 64, notes, 'platform')?.trim().toLowerCase() ?? ''
  if (platform !== '') return platform
  const family = /^sentry\.(javascript|python|java|cocoa|dart|native|ruby|php|go|dotnet|elixir)\b/.exec(
    sdk?.name ?? '',
  )?.[1]
  if (family === undefined) return 'other'
  return family === 'dotnet' ? 'csharp' : family
}

function inferIpOf(sdk: unknown): unknown {
  if (!isRecord(sdk)) return undefined
  const settings = sdk['settings']
  return isRecord(settings) ? settings['infer_ip'] : undefined
}

function remoteAddrOf(request: unknown): unknown {
  if (!isRecord(request)) return undefined
  const env = request['env']
  return isRecord(env) ? env['REMOTE_ADDR'] : undefined
}

/** Name to version, 8 KiB in all. */
function readModules(raw: unknown, notes: Notes): Record<string, string> {
  const modules: Record<string, string> = {}
  if (raw === null || raw === undefined) return modules
  if (!isRecord(raw)) {
    notes.add('modules', 'Expected an object.')
    return modules
  }
  let left = MODULES_CHARACTERS
  for (const key in raw) {
    const version = textField(raw[key], 128, notes, 'modules') ?? ''
    const name = tidy(key, 200)
    if (!isSafeKey(name)) continue
    left -= name.length + version.length
    if (left < 0) {
      notes.add('modules', 'More than 8 KiB; the rest was left out.')
      break
    }
    modules[name] = version
  }
  return modules
}

const MAX_FINGERPRINT = 100
const DEFAULT_ONLY = /^\{\{\s*default\s*\}\}$/

/** Null when the SDK sent none or only the default. */
function readFingerprint(raw: unknown, notes: Notes): string[] | null {
  if (raw === null || raw === undefined) return null
  if (!isList(raw)) {
    notes.add('fingerprint', 'Expected a list of texts.')
    return null
  }
  if (raw.length > MAX_FINGERPRINT)
    notes.add('fingerprint', `${raw.length} elements; the first ${MAX_FINGERPRINT} count.`)
  const parts: string[] = []
  for (const part of raw.slice(0, MAX_FINGERPRINT)) {
    const text = textField(part, 1_024, notes, 'fingerprint')
    if (text !== null) parts.push(cut(text, 1_024))
  }
  if (parts.length === 0 || (parts.length === 1 && DEFAULT_ONLY.test(parts[0] ?? ''))) return null
  return parts
}
