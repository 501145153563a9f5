import { hash } from 'node:crypto'
import type { Event } from '../../events/protocol/event.api.ts'
import { isSdkFrame } from '../../events/protocol/sdk-frames.ts'
import { baseName, withoutBuildHash } from './v2-common-names.ts'
import { cleanClass, cleanFunction, fileName } from './v2-names.ts'
import { roundOf } from './v2-rounds.ts'
import { parameterise } from './v2-words.ts'

/**
 * Grouping, version 2. Frozen: this file, the files `v2-*.ts` and the list of SDK frames never change once issues depend
 * on their results. They import nothing else of ours but the type of an event.
 *
 * Order: the SDK's fingerprint → a rule of the project → security report → application not responding → oldest causal
 * exception with a usable stack → stack of the crashed thread → message → stack of the current thread → type and value →
 * nothing but type and platform. A message of the JVM goes by its words even beside a crashed thread: clients there mark
 * the thread of every plain message as crashed.
 */

type Value = { label: string; value: string }
type Part = { variant: string; values: Value[] }
type Exception = Event['exceptions'][number]
type Frame = NonNullable<Exception['stacktrace']>['frames'][number]

const VERSION = 2

/**
 * Parts in the order they count and the SHA-256 over their unambiguous encoding.
 * @param rule elements a rule of the project gives; null among them stands for what we would have computed
 */
export function fingerprintV2(
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
    crashedThreadPart(event) ??
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
  const values = together(chainsOf(event.exceptions).map((chain) => chainValues(chain, event) ?? []))
  return values.length === 0 ? null : { variant: 'exception_stack', values }
}

/** What the members of a group say, each once: in which order they failed is chance. */
function together(lists: readonly Value[][]): Value[] {
  if (lists.length === 1) return lists[0] ?? []
  const byText = new Map(lists.map((values) => [JSON.stringify(values), values]))
  return [...byText.keys()]
    .sort()
    .filter((text) => text !== '[]')
    .slice(0, MOST_CHAINS)
    .flatMap((text) => byText.get(text) ?? [])
}

/**
 * Type and frames of the oldest cause with a usable stack. Where that never left a library, everything that uses the
 * library would meet: then the frames are those of the oldest one that passed through the app, with the type of both.
 */
function chainValues(chain: readonly Exception[], event: Event): Value[] | null {
  let oldest: Usable | null = null
  for (const exception of chain) {
    if (exception.type === null && event.message !== null) continue
    const found = stackValues(exception.stacktrace?.frames ?? [], event.platform, isOverflow(exception))
    if (found === null) continue
    const usable = { type: typeValue(exception, found.named), ...found }
    if (usable.isOwn)
      return oldest === null ? valuesOf(usable) : [...differing(oldest.type, usable.type), ...valuesOf(usable)]
    oldest ??= usable
  }
  return oldest === null ? null : valuesOf(oldest)
}

type Usable = { type: Value[]; values: Value[]; named: boolean; isOwn: boolean }

const valuesOf = ({ type, values }: Usable): Value[] => [...type, ...values]

const differing = (cause: Value[], type: Value[]): Value[] => (cause[0]?.value === type[0]?.value ? [] : cause)

/** An artificial type (a signal's name) counts only where the frames name nothing but libraries. */
function typeValue({ type, mechanism }: Exception, named: boolean): Value[] {
  return type !== null && (mechanism?.synthetic !== true || !named) ? [{ label: 'type', value: type }] : []
}

function messagePart(event: Event): Part | null {
  if (event.message === null || event.exceptions.some(({ type }) => type !== null)) return null
  return {
    variant: 'message',
    values: [{ label: 'message', value: parameterise(event.message_template ?? event.message) }],
  }
}

const JVM = new Set(['java', 'android', 'kotlin', 'scala', 'groovy'])

/** A message beside the stack of a crashed thread tells of the crash. */
function crashedThreadPart(event: Event): Part | null {
  if (event.message === null || JVM.has(event.platform) || event.exceptions.some(({ type }) => type !== null))
    return null
  const crashed = event.threads.find((thread) => thread.crashed)
  const found = stackValues(crashed?.stacktrace?.frames ?? [], event.platform)
  return found === null ? null : { variant: 'thread_stack', values: found.values }
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
 * count where that is all its stack tells. A group of exceptions says nothing by itself: its members do.
 */
function typeValuePart(event: Event): Part | null {
  const { exceptions } = event
  const newest = exceptions.findLast(({ type }) => type !== null) ?? exceptions.at(-1)
  if (newest === undefined) return null
  const members = isGroup(newest)
    ? chainsOf(exceptions).flatMap((chain) => chain.findLast((one) => !isGroup(one)) ?? [])
    : []
  const values = together((members.length === 0 ? [newest] : members).map((one) => wordsOf(one, event.platform)))
  return values.length === 0 ? null : { variant: 'type_value', values }
}

function wordsOf(exception: Exception, platform: string): Value[] {
  if (exception.type === null && exception.value === null) return []
  const values: Value[] = []
  if (exception.type !== null) values.push({ label: 'type', value: exception.type })
  if (exception.value !== null) values.push({ label: 'value', value: parameterise(exception.value) })
  const own = contributions(exception.stacktrace?.frames.filter((frame) => frame.in_app) ?? [], platform)
  return [...values, ...own.map(({ value }) => value)]
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

// --- Chains of causes ---------------------------------------------------------------------------------------------

/** Different members of a group that count. */
const MOST_CHAINS = 10

/**
 * Every way from an error people see to where it began, oldest first: one, but for groups of exceptions. Exceptions
 * that were thrown on the way (suppressed ones) caused nothing, and a group is no error of its own unless nothing else
 * is there.
 */
function chainsOf(exceptions: readonly Exception[]): Exception[][] {
  const wanted = withoutAsides(exceptions)
  if (!wanted.some(isGroup)) return [[...wanted]]
  const parents = new Map<Exception, Exception>()
  const byId = new Map(wanted.map((exception) => [exception.mechanism?.exception_id ?? null, exception]))
  for (const exception of wanted) {
    const parentId = exception.mechanism?.parent_id ?? null
    const parent = parentId === null ? undefined : byId.get(parentId)
    if (parent !== undefined && parent !== exception) parents.set(exception, parent)
  }
  const inner = new Set(parents.values())
  const chains = wanted
    .filter((exception) => !inner.has(exception))
    .map((exception) => {
      const chain: Exception[] = []
      let at: Exception | undefined = exception
      for (; at !== undefined && chain.length < wanted.length; at = parents.get(at)) chain.push(at)
      const errors = chain.filter((one) => !isGroup(one))
      return errors.length === 0 ? chain : errors
    })
  // Ids that contradict each other lead nowhere.
  return chains.length === 0 ? [[...wanted]] : chains
}

const isGroup = ({ mechanism }: Exception): boolean => mechanism?.is_exception_group === true

/** Thrown on the way, or where React stood when it happened: neither caused anything. */
const isAside = ({ type, mechanism }: Exception): boolean =>
  mechanism?.type === 'suppressed' || (type !== null && type.startsWith('React ErrorBoundary '))

/** All of them where nothing else is left. */
function withoutAsides(exceptions: readonly Exception[]): readonly Exception[] {
  if (!exceptions.some(isAside)) return exceptions
  const dropped = new Set<number>()
  // What caused a suppressed one goes with it, and stands before it.
  const kept = exceptions.toReversed().filter((exception) => {
    const { mechanism } = exception
    const isDropped = isAside(exception) || (mechanism?.parent_id != null && dropped.has(mechanism.parent_id))
    if (isDropped && mechanism?.exception_id != null) dropped.add(mechanism.exception_id)
    return !isDropped
  })
  return kept.length === 0 ? exceptions : kept.toReversed()
}

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

/**
 * In-app frames, all of them where none is; null where they say nothing beyond file names.
 * @param endless of a recursion that ran out, the round alone counts: way in, way out and depth are chance
 */
function stackValues(
  frames: readonly Frame[],
  platform: string,
  endless = false,
): { values: Value[]; named: boolean; isOwn: boolean } | null {
  const own = contributions(
    frames.filter((frame) => frame.in_app),
    platform,
    endless,
  )
  const chosen = own.length > 0 ? own : contributions(frames, platform, endless)
  if (!chosen.some(({ usable }) => usable)) return null
  return { values: chosen.map(({ value }) => value), named: chosen.some(({ named }) => named), isOwn: own.length > 0 }
}

const MAX_PERIOD = 4

const isOverflow = ({ type, value }: Exception): boolean =>
  /(?:^|\.)(?:StackOverflow(?:Error|Exception)|RecursionError|SystemStackError)$/.test(type ?? '') ||
  /^(?:Maximum call stack size exceeded|too much recursion)/.test(value ?? '')

/** One entry per frame that counts; recursion, also through up to four functions, is folded into one round. */
function contributions(frames: readonly Frame[], platform: string, endless = false): Contribution[] {
  const list: Contribution[] = []
  for (const frame of platform === 'php' ? withNamedClosures(frames) : frames) {
    const contribution = contributionOf(frame, frame.platform ?? platform)
    if (contribution === null) continue
    list.push(contribution)
    if (endless) continue
    for (let period = 1; period <= MAX_PERIOD; period += 1) {
      if (!repeats(list, period)) continue
      list.length -= period
      break
    }
  }
  const round = endless ? roundOf(list.map(({ value }) => JSON.stringify([value.label, value.value]))) : null
  return round === null ? list : round.flatMap((index) => list[index] ?? [])
}

/**
 * Before 8.4 PHP did not say which function a closure stands in: the last one of its file that was called. Since then it
 * does, and the two are one problem.
 */
function withNamedClosures(frames: readonly Frame[]): readonly Frame[] {
  if (!frames.some((frame) => frame.function?.endsWith('{closure}') === true)) return frames
  const functions = new Map<string, string>()
  return frames.map((frame) => {
    const { function: name, filename } = frame
    if (name === null || filename === null) return frame
    if (!name.endsWith('{closure}')) {
      if (!name.includes('{')) functions.set(filename, name)
      return frame
    }
    const around = functions.get(filename)
    return around === undefined ? frame : { ...frame, function: `{closure:${around}()}` }
  })
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
    const library = baseName(frame.package)
    // Code made while running has an address where others have a file.
    if (/^<anonymous(?::[0-9a-f]+)?>$/.test(library)) return null
    return { value: { label: 'package', value: library }, named: false, usable: true }
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
const SDK_FILE = /(?:^|[\\/])(?:node_modules[\\/](?:@?sentry(?:-internal)?|raven(?:-js)?)[\\/]|sentry_sdk[\\/])/
const SDK_PACKAGE = /(?:^|[\\/])(?:libsentry[\w.-]*|Sentry)$/
const ASYNC_RUNTIME =
  /^(?:process\.processTicksAndRejections|processTicksAndRejections|runMicrotasks|_?asyncToGenerator|asyncGeneratorStep|__awaiter|__generator)$/
/** Python before 3.12 has a frame of its own for what stands in the function around it. */
const COMPREHENSION = /^<(?:list|dict|set)comp>$/

/** Frames of SDKs, of browser extensions, and of the runtime's own plumbing. */
function isForeign(frame: Frame, platform: string): boolean {
  const { filename, module } = frame
  if (platform === 'javascript' || platform === 'node') {
    const path = frame.abs_path ?? filename
    if (path === null || path === 'native' || path === '[native code]' || path.endsWith('<anonymous>')) return true
    if (frame.function !== null && ASYNC_RUNTIME.test(frame.function)) return true
    if (EXTENSION.test(path)) return true
  } else if (isSdkFrame(frame, platform)) return true
  if (platform === 'python' && frame.function !== null && COMPREHENSION.test(frame.function)) return true
  // Kotlin's marks in recovered stacks of coroutines.
  if (module?.startsWith('_COROUTINE.') === true) return true
  if (module !== null && /^(?:@sentry[./-]|io\.sentry\.(?!samples?\.)|sentry_sdk\b|Sentry\.)/.test(module)) return true
  if (frame.package !== null && SDK_PACKAGE.test(frame.package)) return true
  return filename !== null && SDK_FILE.test(filename)
}

const MAIN = /^__(?:mp_)?main__$/

/** Module or class where there is one, else the file's name. `__main__` is whatever file was started, here or by multiprocessing. */
function placeOf(frame: Frame, platform: string): string | null {
  const script = platform === 'javascript' || platform === 'node'
  // Of Ruby only newer clients say the class, and only since 3.4: the file was always there.
  const hasModule = frame.module !== null && !(platform === 'ruby' && frame.filename !== null)
  if (hasModule && frame.module !== null && !MAIN.test(frame.module)) {
    return script ? withoutBuildHash(frame.module) : cleanClass(frame.module)
  }
  const path = frame.filename ?? frame.abs_path
  return path === null ? null : fileName(path, script)
}
