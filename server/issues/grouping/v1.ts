import { hash } from 'node:crypto'
import type { Event } from '../../events/protocol/event.api.ts'
import { baseName, cleanClass, cleanFunction, fileName, withoutBuildHash } from './v1-names.ts'
import { parameterise } from './v1-words.ts'

/**
 * Grouping, version 1. Frozen: this file and its two companions never change again, issues are found by what they
 * answer. They therefore keep private copies of all they need and import nothing else of ours but the type of an event.
 *
 * Order: the SDK's fingerprint → a rule of the project → security report → application not responding → oldest causal
 * exception with a usable stack → message → stack of the crashed thread → type and value → nothing but type and
 * platform. A message event goes by its words even where a stack came with it: JVM clients mark the thread of every
 * plain message as crashed.
 */

type Value = { label: string; value: string }
type Part = { variant: string; values: Value[] }
type Exception = Event['exceptions'][number]
type Frame = NonNullable<Exception['stacktrace']>['frames'][number]

const VERSION = 1

/**
 * Parts in the order they count and the SHA-256 over their unambiguous encoding.
 * @param rule elements a rule of the project gives; null among them stands for what we would have computed
 */
export function fingerprintV1(
  event: Event,
  rule: readonly (string | null)[] | null = null,
): { hash: Buffer; parts: Part[] } {
  const parts = partsOf(event, rule)
  return { hash: hash('sha256', JSON.stringify([VERSION, parts.map(encodable)]), 'buffer'), parts }
}

function encodable(part: Part): unknown {
  return [part.variant, part.values.map(({ label, value }) => [label, value])]
}

function partsOf(event: Event, rule: readonly (string | null)[] | null): Part[] {
  const sent = event.fingerprint
  if (sent !== null && sent.length > 0)
    return givenParts(
      'sdk_fingerprint',
      sent.map((element) => (/^\{\{\s*default\s*\}\}$/.test(element) ? null : element)),
      event,
    )
  return rule === null ? [computedPart(event)] : givenParts('project_rule', rule, event)
}

function givenParts(variant: string, elements: readonly (string | null)[], event: Event): Part[] {
  const values = elements.map((element) =>
    element === null ? { label: 'default', value: '{{ default }}' } : { label: 'fingerprint', value: element },
  )
  const part = { variant, values }
  return elements.includes(null) ? [part, computedPart(event)] : [part]
}

function computedPart(event: Event): Part {
  return (
    securityPart(event) ??
    anrPart(event) ??
    exceptionPart(event) ??
    messagePart(event) ??
    threadPart(event) ??
    typeValuePart(event) ?? {
      variant: 'fallback',
      values: [
        { label: 'type', value: event.type },
        { label: 'platform', value: event.platform },
      ],
    }
  )
}

// --- Rules --------------------------------------------------------------------------------------------------------

function exceptionPart(event: Event): Part | null {
  for (const exception of event.exceptions) {
    if (exception.type === null && event.message !== null) continue
    const frames = stackValues(exception.stacktrace?.frames ?? [], event.platform)
    if (frames === null) continue
    // An artificial type (a signal's name) counts only where the frames name nothing but libraries.
    const keepsType = exception.type !== null && (exception.mechanism?.synthetic !== true || !frames.named)
    return {
      variant: 'exception_stack',
      values: keepsType ? [{ label: 'type', value: exception.type ?? '' }, ...frames.values] : frames.values,
    }
  }
  return null
}

function messagePart(event: Event): Part | null {
  if (event.message === null || event.exceptions.some(({ type }) => type !== null)) return null
  return {
    variant: 'message',
    values: [{ label: 'message', value: parameterise(event.message_template ?? event.message) }],
  }
}

function threadPart(event: Event): Part | null {
  if (event.exceptions.some(({ stacktrace }) => stacktrace !== null)) return null
  const { threads } = event
  const thread =
    threads.find(({ crashed }) => crashed) ??
    threads.find(({ current }) => current) ??
    (threads.length === 1 ? threads[0] : undefined)
  const frames = stackValues(thread?.stacktrace?.frames ?? [], event.platform)
  if (frames === null) return null
  const type = event.exceptions.findLast((exception) => exception.type !== null)?.type ?? null
  const values = type === null ? frames.values : [{ label: 'type', value: type }, ...frames.values]
  return { variant: 'thread_stack', values }
}

/**
 * The newest exception with a type: without a stack, the cause says no more than the error people see. Files of the app
 * count where that is all its stack tells.
 */
function typeValuePart(event: Event): Part | null {
  const exception = event.exceptions.findLast(({ type }) => type !== null) ?? event.exceptions.at(-1)
  if (exception === undefined || (exception.type === null && exception.value === null)) return null
  const values: Value[] = []
  if (exception.type !== null) values.push({ label: 'type', value: exception.type })
  if (exception.value !== null) values.push({ label: 'value', value: parameterise(exception.value) })
  const own = contributions(exception.stacktrace?.frames.filter((frame) => frame.in_app) ?? [], event.platform)
  return { variant: 'type_value', values: [...values, ...own.map(({ value }) => value)] }
}

/** Reports of browsers: what was to be protected and what broke it, not where. */
function securityPart(event: Event): Part | null {
  if (!SECURITY_TYPES.has(event.type)) return null
  const context = event.contexts[event.type] ?? {}
  const values: Value[] = []
  for (const [label, key] of SECURITY_KEYS) {
    const value = context[key]
    if (typeof value === 'string') values.push({ label, value })
  }
  return values.length === 0 ? null : { variant: 'security', values: [{ label: 'type', value: event.type }, ...values] }
}

const SECURITY_TYPES = new Set(['csp', 'expectct', 'expectstaple', 'hpkp'])
const SECURITY_KEYS = [
  ['directive', 'effective_directive'],
  ['blocked', 'blocked'],
  ['hostname', 'hostname'],
] as const

// --- Application not responding -----------------------------------------------------------------------------------

const ANR_MECHANISMS = new Set(['anr', 'appexitinfo', 'historicalappexitinfo', 'apphang', 'mxhangdiagnostic'])
const ANR_TYPE = /(?:^|[.$])ApplicationNotResponding$|^App Hang/
/** A main thread that waits for work: whatever lies below it is the same for every hang. */
const IDLE = /^(?:nativePollOnce|android\.os\.MessageQueue\.nativePollOnce|mach_msg2?_trap|__epoll_pwait|epoll_wait)$/

/** The app's frames of the main thread; nothing but the kind where there are none. */
function anrPart(event: Event): Part | null {
  const anr = event.exceptions.findLast(isAnr)
  if (anr === undefined) return null
  const values: Value[] = [{ label: 'kind', value: 'ANR' }]
  const frames = anr.stacktrace?.frames ?? event.threads.find(({ main }) => main)?.stacktrace?.frames ?? []
  const top = frames.at(-1)?.function ?? ''
  if (!IDLE.test(top)) {
    const own = contributions(
      frames.filter((frame) => frame.in_app),
      event.platform,
    )
    if (own.some(({ named }) => named)) values.push(...own.map(({ value }) => value))
  }
  return { variant: 'anr', values }
}

function isAnr({ type, mechanism }: Exception): boolean {
  if (type !== null && ANR_TYPE.test(type)) return true
  return ANR_MECHANISMS.has((mechanism?.type ?? '').toLowerCase().replaceAll('_', ''))
}

// --- Frames -------------------------------------------------------------------------------------------------------

type Contribution = { value: Value; named: boolean; usable: boolean }

/** In-app frames, all of them where none is; null where they say nothing beyond file names. */
function stackValues(frames: readonly Frame[], platform: string): { values: Value[]; named: boolean } | null {
  const own = contributions(
    frames.filter((frame) => frame.in_app),
    platform,
  )
  const chosen = own.length > 0 ? own : contributions(frames, platform)
  if (!chosen.some(({ usable }) => usable)) return null
  return { values: chosen.map(({ value }) => value), named: chosen.some(({ named }) => named) }
}

const MAX_PERIOD = 4

/** One entry per frame that counts; recursion, also through up to four functions, is folded into one round. */
function contributions(frames: readonly Frame[], platform: string): Contribution[] {
  const list: Contribution[] = []
  for (const frame of frames) {
    const contribution = contributionOf(frame, frame.platform ?? platform)
    if (contribution === null) continue
    list.push(contribution)
    for (let period = 1; period <= MAX_PERIOD; period += 1) {
      if (!repeats(list, period)) continue
      list.length -= period
      break
    }
  }
  return list
}

function repeats(list: readonly Contribution[], period: number): boolean {
  if (list.length < 2 * period) return false
  for (let index = list.length - period; index < list.length; index += 1) {
    const now = list[index]?.value
    const before = list[index - period]?.value
    if (now?.value !== before?.value || now?.label !== before?.label) return false
  }
  return true
}

const WITH_CONTEXT = new Set(['javascript', 'node', 'python', 'php', 'ruby'])
const NATIVE = new Set(['native', 'c', 'cpp', 'rust', 'cocoa', 'objc', 'swift'])

function contributionOf(frame: Frame, platform: string): Contribution | null {
  if (isForeign(frame, platform)) return null
  const name = frame.function === null ? null : cleanFunction(frame.function, platform)
  if (NATIVE.has(platform) || (frame.instruction_addr !== null && frame.filename === null && frame.module === null)) {
    if (name !== null) return { value: { label: 'function', value: name }, named: true, usable: true }
    if (frame.package === null) return null
    return { value: { label: 'package', value: baseName(frame.package) }, named: false, usable: true }
  }
  const place = placeOf(frame, platform)
  const label = (kind: string): string => (place === null ? kind : `${kind} in ${place}`)
  if (name !== null) return { value: { label: label('function'), value: name }, named: true, usable: true }
  const line = WITH_CONTEXT.has(platform) ? sourceLine(frame.context_line) : null
  if (line !== null) return { value: { label: label('line'), value: line }, named: true, usable: true }
  if (place === null) return null
  return { value: { label: label('function'), value: '<anonymous>' }, named: false, usable: false }
}

/** Source text of an anonymous function; a line the client cut differs from one SDK version to the next. */
function sourceLine(line: string | null): string | null {
  if (line === null || line.length > 300 || line.includes('{snip}')) return null
  const text = line.trim()
  return text === '' ? null : text.replaceAll(/\s+/g, ' ')
}

const EXTENSION = /^(?:chrome|moz|safari|safari-web|ms-browser|webkit-masked-url)(?:-extension)?:\/\//
const SDK_FILE =
  /(?:^|[\\/])(?:node_modules[\\/](?:@?sentry(?:-internal)?|raven(?:-js)?)[\\/]|sentry_sdk[\\/])|^package:sentry/
const SDK_PACKAGE = /(?:^|[\\/])(?:libsentry[\w.-]*|Sentry)$/
const ASYNC_RUNTIME =
  /^(?:process\.processTicksAndRejections|processTicksAndRejections|runMicrotasks|asyncToGenerator)$/

/** Frames of SDKs, of browser extensions, and of the runtime's own plumbing. */
function isForeign(frame: Frame, platform: string): boolean {
  const { filename, module } = frame
  if (platform === 'javascript' || platform === 'node') {
    const path = frame.abs_path ?? filename
    if (path === null || path === 'native' || path === '[native code]' || path.endsWith('<anonymous>')) return true
    if (frame.function !== null && ASYNC_RUNTIME.test(frame.function)) return true
    if (EXTENSION.test(path)) return true
  }
  if (module !== null && /^(?:@sentry[./-]|io\.sentry\.(?!samples?\.)|sentry_sdk\b|Sentry\.)/.test(module)) return true
  if (frame.package !== null && SDK_PACKAGE.test(frame.package)) return true
  return filename !== null && SDK_FILE.test(filename)
}

/** Module or class where there is one, else the file's name. `__main__` is whatever file was started. */
function placeOf(frame: Frame, platform: string): string | null {
  const script = platform === 'javascript' || platform === 'node'
  if (frame.module !== null && frame.module !== '__main__') {
    return script ? withoutBuildHash(frame.module) : cleanClass(frame.module)
  }
  const path = frame.filename ?? frame.abs_path
  return path === null ? null : fileName(path)
}
