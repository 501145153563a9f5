import type { Event, Breadcrumb, Tag } from './event.api.ts'
import {
  readStacktrace,
  type FrameSetting,
  imageRanges,
  readImages,
  attachRawStacks,
  attachStacks,
  isUnhandled,
  readExceptions,
  readThreads,
  type RawStack,
} from './frames.ts'
import { cleanRecord, isList, isRecord, isSafeKey, JsonBudget, unwrapList, type JsonRecord, textField } from './json.ts'
import { eventCulprit, leadingStack, namingException, eventTitle } from './labels.ts'
import { parseLevel } from './level.ts'
import { readDist, readEnvironmentOrTag, readRelease } from './release.ts'
import { findHeader, readRequest } from './request.ts'
import { cut, tidy, Notes, storable } from './strings.ts'
import { eventTime, isoTime, shiftedTime } from './time.ts'
import { readUser } from './user.ts'
import { readUserAgent } from './user-agent.ts'

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

/** The message of an event: plain text, or a template with parameters, in one of two fields. */

const MAX_MESSAGE = 8_192

type Message = { formatted: string | null; template: string | null }

/** `logentry` takes precedence over `message`. */
function readMessage(logentry: unknown, message: unknown, notes: Notes): Message {
  const first = readOne(logentry, notes, 'logentry')
  const second = readOne(message, notes, 'message')
  return {
    formatted: first.formatted ?? second.formatted,
    template: first.template ?? (first.formatted === null ? second.template : null),
  }
}

function readOne(raw: unknown, notes: Notes, name: string): Message {
  if (!isRecord(raw)) return { formatted: textField(raw, MAX_MESSAGE, notes, name), template: null }
  const template = textField(raw['message'], MAX_MESSAGE, notes, `${name}.message`)
  const formatted = textField(raw['formatted'], MAX_MESSAGE, notes, `${name}.formatted`)
  if (template === null) return { formatted, template: null }
  const filled = formatted ?? fillTemplate(template, raw['params'])
  // Text without a parameter is no template, so its numbers are replaced for grouping like those of any message.
  return { formatted: filled, template: filled === template ? null : template }
}

const PLACEHOLDER = /%(?:\((\w{1,64})\))?[-+ #0]{0,3}\d{0,4}(?:\.\d{1,4})?([sdifrgexXoOcv%])|\{(\w{0,64})\}/g

/** Puts parameters into a template: `%s`, `%(name)s`, `{}`, `{0}`, `{name}`. Placeholders without a parameter stay. */
function fillTemplate(template: string, params: unknown): string {
  const list = isList(params) ? params : []
  const named = isRecord(params) ? params : {}
  if (list.length === 0 && Object.keys(named).length === 0) return template
  let next = 0
  const filled = template.replaceAll(
    PLACEHOLDER,
    (whole: string, percentName: string | undefined, kind: string | undefined, braceName: string | undefined) => {
      if (kind === '%') return '%'
      const name = percentName ?? braceName
      let value: unknown
      if (name === undefined || name === '') value = next < list.length ? list[next++] : undefined
      else if (Object.hasOwn(named, name)) value = named[name]
      else if (/^\d{1,3}$/.test(name)) value = list[Number(name)]
      return value === undefined ? whole : paramText(value)
    },
  )
  return tidy(filled, MAX_MESSAGE)
}

function paramText(value: unknown): string {
  if (typeof value === 'string') return cut(value, 1_024)
  if (typeof value === 'object' && value !== null) return '[object]'
  return String(value)
}

/** Maximum breadcrumbs; the newest are kept. */
const MAX_BREADCRUMBS = 100

/** Oldest first, also where they were sent newest first. `budget` bounds the data of all of them together. */
function readBreadcrumbs(raw: unknown, shiftMs: number, budget: JsonBudget, notes: Notes): Breadcrumb[] {
  const list = unwrapList(raw, notes, 'breadcrumbs')
  if (list.length > MAX_BREADCRUMBS) {
    notes.add('breadcrumbs', `${list.length} breadcrumbs; the newest ${MAX_BREADCRUMBS} are kept.`)
  }
  const crumbs: Breadcrumb[] = []
  const ordered = isNewestFirst(list) ? list.toReversed() : list
  for (const element of ordered.length > MAX_BREADCRUMBS ? ordered.slice(-MAX_BREADCRUMBS) : ordered) {
    if (isRecord(element)) crumbs.push(readBreadcrumb(element, shiftMs, budget, notes))
    else if (element !== null) notes.add('breadcrumbs', 'A breadcrumb is no object.')
  }
  return crumbs
}

/** By the times of the first and the last one. */
function isNewestFirst(list: readonly unknown[]): boolean {
  const [first, last] = [timeOf(list[0]), timeOf(list.at(-1))]
  return first !== null && last !== null && first > last
}

function timeOf(raw: unknown): string | null {
  const time = isRecord(raw) ? raw['timestamp'] : null
  return time === null || time === undefined ? null : shiftedTime(time, 0)
}

function readBreadcrumb(raw: Record<string, unknown>, shiftMs: number, budget: JsonBudget, notes: Notes): Breadcrumb {
  const time = raw['timestamp']
  const timestamp = time === null || time === undefined ? null : shiftedTime(time, shiftMs)
  if (timestamp === null && time !== null && time !== undefined) notes.add('breadcrumb.timestamp', 'Not a time.')
  return {
    timestamp,
    type: textField(raw['type'], 64, notes, 'breadcrumb.type') ?? 'default',
    category: textField(raw['category'], 256, notes, 'breadcrumb.category'),
    level: parseLevel(raw['level']) ?? 'info',
    message: textField(raw['message'], 8_192, notes, 'breadcrumb.message'),
    data: raw['data'] === undefined ? null : cleanRecord(raw['data'], budget, notes, 'breadcrumb.data'),
  }
}

/** Tags: an object or a list of pairs becomes a list without duplicates, in the order sent. */

const MAX_TAGS = 200
const MAX_KEY = 200
const MAX_VALUE = 200

/** Tags with the meaning of a field of the event: moved there if it is empty, never kept as a tag. */
const RESERVED = new Set(['release', 'dist', 'environment', 'user', 'filename', 'function'])

type ReservedTags = { release: string | null; dist: string | null; environment: string | null }

type Tags = { tags: Tag[]; reserved: ReservedTags }

function readTags(raw: unknown, notes: Notes): Tags {
  const values = new Map<string, string>()
  const reserved: ReservedTags = { release: null, dist: null, environment: null }
  for (const [rawKey, rawValue] of pairs(raw, notes)) {
    const value = tagValue(rawValue, notes)
    if (value === null) continue
    const key = tagKey(rawKey)
    if (key === null)
      notes.add('tags', 'A tag key is empty, too long or holds other characters than A-Z a-z 0-9 _ . : -')
    else if (RESERVED.has(key)) reserve(reserved, key, value)
    else if (values.size < MAX_TAGS || values.has(key)) values.set(key, value)
    else {
      notes.add('tags', `More than ${MAX_TAGS} tags.`)
      break
    }
  }
  const tags: Tag[] = []
  for (const [key, value] of values) tags.push({ key, value })
  return { tags, reserved }
}

function reserve(reserved: ReservedTags, key: string, value: string): void {
  if (key === 'release' || key === 'dist' || key === 'environment') reserved[key] ??= value
}

const NO_PAIRS: readonly [unknown, unknown][] = []

function pairs(raw: unknown, notes: Notes): Iterable<readonly [unknown, unknown]> {
  if (raw === null || raw === undefined) return NO_PAIRS
  if (isRecord(raw)) return Object.entries(raw)
  if (!isList(raw)) {
    notes.add('tags', 'Expected an object or a list of pairs.')
    return NO_PAIRS
  }
  const list: [unknown, unknown][] = []
  for (const element of raw) {
    if (isList(element) && element.length === 2) list.push([element[0], element[1]])
    else if (isRecord(element) && 'key' in element) list.push([element['key'], element['value']])
    else if (element !== null) notes.add('tags', 'A tag is no pair.')
  }
  return list
}

const GOOD_KEY = /^[A-Za-z0-9_.:-]{1,200}$/

function tagKey(raw: unknown): string | null {
  if (typeof raw !== 'string') return typeof raw === 'number' ? String(raw) : null
  if (GOOD_KEY.test(raw)) return isSafeKey(raw) ? raw : null
  if (raw.length > MAX_KEY) return null
  const mended = raw.trim().replaceAll(' ', '-')
  return GOOD_KEY.test(mended) && isSafeKey(mended) ? mended : null
}

/** Null means no value: the tag is left out without a note. */
function tagValue(raw: unknown, notes: Notes): string | null {
  if (typeof raw === 'string') return raw === '' ? null : oneLine(raw)
  if (raw === null || raw === undefined) return null
  if (typeof raw === 'boolean') return raw ? 'True' : 'False'
  if (typeof raw === 'number') return String(raw)
  notes.add('tags', 'A tag value is no text.')
  return null
}

function oneLine(value: string): string | null {
  const clean = tidy(value, MAX_VALUE)
  if (!/[\n\r]/.test(clean)) return clean
  const line = storable(clean.replaceAll(/[\n\r]+/g, ' ').trim())
  return line === '' ? null : line
}

/** Contexts: one object per name. */

const MAX_CONTEXTS = 100

function readContexts(raw: unknown, budget: JsonBudget, notes: Notes): Event['contexts'] {
  const contexts: Record<string, JsonRecord> = {}
  if (raw === null || raw === undefined) return contexts
  if (!isRecord(raw)) {
    notes.add('contexts', 'Expected an object.')
    return contexts
  }
  let count = 0
  for (const key in raw) {
    const value = raw[key]
    if (value === null || value === undefined) continue
    const name = tidy(key, 100)
    if (!isSafeKey(name)) {
      notes.add('contexts', `The name ${name} is not allowed.`)
      continue
    }
    if (count === MAX_CONTEXTS) {
      notes.add('contexts', `More than ${MAX_CONTEXTS} contexts.`)
      break
    }
    const context = cleanRecord(value, budget, notes, `contexts.${name}`)
    if (context === null) continue
    contexts[name] = name === 'device' ? mendDevice(context, notes) : name === 'os' ? mendOs(context) : context
    count += 1
  }
  return contexts
}

/** A battery level outside 0 to 100 means "unknown" to some phones. */
function mendDevice(device: JsonRecord, notes: Notes): JsonRecord {
  const level = device['battery_level']
  if (typeof level !== 'number' || (level >= 0 && level <= 100)) return device
  notes.add('contexts.device.battery_level', 'Outside 0 to 100.')
  const { battery_level: _, ...rest } = device
  return rest
}

/** Some SDKs send the final newline of a version file. */
function mendOs(os: JsonRecord): JsonRecord {
  const version = os['version']
  return typeof version === 'string' && version.trim() !== version ? { ...os, version: version.trim() } : os
}

/**
 * Adds contexts from the user agent. A web page runs in that browser. For a server it is the visitor's browser, whose
 * system and device are not those of the error.
 */
function addAgentContexts(contexts: Event['contexts'], agent: string | null, platform: string): void {
  if (agent === null) return
  const { browser, os, device } = readUserAgent(agent)
  if (browser !== null) contexts['browser'] ??= browser
  if (platform !== 'javascript') return
  if (os !== null) contexts['os'] ??= os
  if (device !== null) contexts['device'] ??= device
}
