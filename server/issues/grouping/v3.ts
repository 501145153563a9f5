import { hash } from 'node:crypto'
import type { Event } from '../../events/protocol/event.api.ts'
import { causesFirst } from '../../events/protocol/telling-v3.ts'
import { findChains, isGroup } from './v3-chains.ts'
import { contributions, isNamed, readStack, type Exception, type Setting, type Stack, type Value } from './v3-frames.ts'
import { placesIn, stackInText } from './v3-places.ts'
import { isOfEngine, parameterise, findProperty } from './v3-words.ts'

/**
 * Grouping, version 3. Frozen: this file, the files `v3-*.ts`, those of version 2 that they use and the lists of SDK frames
 * never change once issues depend on their results. They import nothing else of ours but the type of an event.
 *
 * Order: the SDK's fingerprint → a rule of the project → security report → application not responding → oldest causal
 * exception with a usable stack → stack of the crashed thread → message → stack of the current thread → type and value →
 * nothing but type and platform. Other than in version 2, native frames without names count by their place in their image,
 * the message counts where no frame of the app tells the place, and the ids of exceptions say which is the cause.
 */

type Part = { variant: string; values: Value[] }

const VERSION = 3

/**
 * Parts in the order they count and the SHA-256 over their unambiguous encoding.
 * @param rule elements a rule of the project gives; null among them stands for what we would have computed
 */
export function fingerprintV3(
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
  const setting: Setting = {
    platform: event.platform,
    level: event.level,
    places: placesIn(event.debug_images),
  }
  return (
    securityPart(event) ??
    anrPart(event, setting) ??
    exceptionPart(event, setting) ??
    crashedThreadPart(event, setting) ??
    messagePart(event) ??
    threadPart(event, setting) ??
    typeValuePart(event) ?? {
      variant: 'fallback',
      values: [
        { label: 'type', value: event.type },
        { label: 'platform', value: event.platform },
      ],
    }
  )
}

// --- Exceptions ---------------------------------------------------------------------------------------------------

function exceptionPart(event: Event, setting: Setting): Part | null {
  const values = together(findChains(event.exceptions).map((chain) => chainValues(chain, event, setting) ?? []))
  return values.length === 0 ? null : { variant: 'exception_stack', values }
}

/** Different members of a group that count. */
const MAX_CHAINS = 10

/** The values of the members of a group, each once and sorted, because the order in which they failed is chance. */
function together(lists: readonly Value[][]): Value[] {
  if (lists.length === 1) return lists[0] ?? []
  const byText = new Map(lists.map((values) => [JSON.stringify(values), values]))
  return [...byText.keys()]
    .sort()
    .filter((text) => text !== '[]')
    .slice(0, MAX_CHAINS)
    .flatMap((text) => byText.get(text) ?? [])
}

type Usable = { readonly exception: Exception; readonly type: Value[]; readonly stack: Stack }

/**
 * Type and frames of the oldest cause with a usable stack. Where that never left a library, everything that uses the
 * library would meet: then the frames are those of the oldest one that passed through the app, with the type of both.
 * Where none passed a frame of the app that tells something, what the cause says counts too.
 */
function chainValues(chain: readonly Exception[], event: Event, setting: Setting): Value[] | null {
  let oldest: Usable | null = null
  let entered: Usable | null = null
  for (const exception of chain) {
    if (exception.type === null && event.message !== null) continue
    const endless = isOverflow(exception)
    const crashed = isCrash(exception)
    const stack = readStack(exception.stacktrace?.frames ?? [], setting, { endless, crashed })
    if (stack === null) continue
    const usable = { exception, type: typeValue(exception, stack.named), stack }
    oldest ??= usable
    if (stack.isOwn) entered ??= usable
    if (!stack.isOwn || !stack.tells) continue
    return [
      ...differing(oldest.type, usable.type),
      ...usable.type,
      ...signalValues(usable),
      ...thrownWords(usable),
      ...stack.values,
    ]
  }
  const chosen = entered ?? oldest
  if (oldest === null || chosen === null) return null
  return [
    ...differing(oldest.type, chosen.type),
    ...chosen.type,
    ...signalValues(chosen),
    ...spokenBeside(oldest, chosen.stack, setting),
    ...chosen.stack.values,
  ]
}

const differing = (cause: Value[], type: Value[]): Value[] => (cause[0]?.value === type[0]?.value ? [] : cause)

/** An artificial type (a signal's name) counts only where the frames name nothing but libraries. */
function typeValue({ type, mechanism }: Exception, named: boolean): Value[] {
  return type !== null && (mechanism?.synthetic !== true || !named) ? [{ label: 'type', value: type }] : []
}

/** The words of an exception beside native frames without names: its place changes with every build, its words do not. */
const thrownWords = ({ exception, stack }: Usable): Value[] =>
  stack.nameless && !isCrash(exception) ? saidBy(exception) : []

/** The words of the cause where its frames do not tell the place. */
function spokenBeside({ exception }: Usable, chosen: Stack, { platform }: Setting): Value[] {
  if (isOverflow(exception) || (chosen.nameless && chosen.tells && isCrash(exception))) return []
  if (chosen.minified && isOfEngine(exception.type)) {
    const property = exception.value === null ? null : findProperty(exception.type, exception.value)
    return property === null ? [] : [{ label: 'property', value: property }]
  }
  return saidBy(exception, platform)
}

const CRASH_TYPE = /^(?:SIG[A-Z]{2,8}|EXC_[A-Z_]{3,20}|(?:EXCEPTION|STATUS)_[A-Z_]{3,60}|0x[0-9a-f]{8})\b/i

/** The system ended the program: the exception's text says no more than its type. */
function isCrash({ type, mechanism }: Exception): boolean {
  const meta = mechanism?.meta ?? null
  return (
    (meta !== null && (isRecord(meta['signal']) || isRecord(meta['mach_exception']))) || CRASH_TYPE.test(type ?? '')
  )
}

/** Signal and exception of a crash in functions without names; codes of the signal only where the place is not known. */
function signalValues({ exception, stack }: Usable): Value[] {
  const meta = exception.mechanism?.meta ?? null
  if (meta === null || !stack.nameless) return []
  const values: Value[] = []
  const add = (label: string, code: unknown): void => {
    if (typeof code === 'string' || (typeof code === 'number' && Math.abs(code) < MAX_CODE))
      values.push({ label, value: String(code) })
  }
  const { signal, mach_exception: mach, errno } = meta
  if (isRecord(signal)) {
    add('signal', signal['number'] ?? signal['name'])
    if (!stack.tells) add('signal code', signal['code'] ?? signal['code_name'])
  }
  if (isRecord(mach)) {
    add('mach exception', mach['exception'] ?? mach['name'])
    add('mach code', mach['code'])
  }
  if (isRecord(errno)) add('errno', errno['number'] ?? errno['name'])
  return values
}

/** Larger codes hold addresses, sizes or limits. */
const MAX_CODE = 65_536

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isOverflow = ({ type, value }: Exception): boolean =>
  /(?:^|\.)(?:StackOverflow(?:Error|Exception)|RecursionError|SystemStackError)$/.test(type ?? '') ||
  /^(?:Maximum call stack size exceeded|too much recursion)/.test(value ?? '')

// --- Threads ------------------------------------------------------------------------------------------------------

const JVM = new Set(['java', 'android', 'kotlin', 'scala', 'groovy'])

/** A message beside the stack of a crashed thread tells of the crash. */
function crashedThreadPart(event: Event, setting: Setting): Part | null {
  if (event.message === null || JVM.has(event.platform) || event.exceptions.some(({ type }) => type !== null))
    return null
  const crashed = event.threads.find((thread) => thread.crashed)
  const stack = readStack(crashed?.stacktrace?.frames ?? [], setting)
  if (stack === null) return null
  const values = stack.tells ? stack.values : [...textValues('message', event.message), ...stack.values]
  return { variant: 'thread_stack', values }
}

function threadPart(event: Event, setting: Setting): Part | null {
  if (event.exceptions.some(({ stacktrace }) => stacktrace !== null)) return null
  const { threads } = event
  const thread =
    threads.find(({ crashed }) => crashed) ??
    threads.find(({ current }) => current) ??
    (threads.length === 1 ? threads[0] : undefined)
  const stack = readStack(thread?.stacktrace?.frames ?? [], setting)
  if (stack === null) return null
  const exception = event.exceptions.findLast(({ type }) => type !== null)
  if (exception?.type == null) return { variant: 'thread_stack', values: stack.values }
  const usable = { exception, type: [{ label: 'type', value: exception.type }], stack }
  const words = stack.tells ? thrownWords(usable) : spokenBeside(usable, stack, setting)
  return { variant: 'thread_stack', values: [...usable.type, ...signalValues(usable), ...words, ...stack.values] }
}

// --- Words --------------------------------------------------------------------------------------------------------

function messagePart(event: Event): Part | null {
  if (event.message === null || event.exceptions.some(({ type }) => type !== null)) return null
  return { variant: 'message', values: textValues('message', event.message_template ?? event.message) }
}

/**
 * The newest exception with a type: without a stack, the cause says no more than the error that users see. Files of the app
 * count where that is all its stack tells. A group of exceptions says nothing by itself: its members do.
 */
function typeValuePart(event: Event): Part | null {
  const chains = findChains(event.exceptions)
  const newest = newestOf(event.exceptions)
  if (newest === undefined) return null
  const members = isGroup(newest) ? chains.flatMap((chain) => chain.findLast((one) => !isGroup(one)) ?? []) : []
  const values = together((members.length === 0 ? [newest] : members).map((one) => wordsOf(one, event.platform)))
  return values.length === 0 ? null : { variant: 'type_value', values }
}

/** By the ids where they tell it, else the last of the list. */
function newestOf(exceptions: readonly Exception[]): Exception | undefined {
  const ordered = exceptions.some(isGroup) ? exceptions : causesFirst(exceptions)
  return ordered.findLast(({ type }) => type !== null) ?? ordered.at(-1)
}

function wordsOf(exception: Exception, platform: string): Value[] {
  if (exception.type === null && exception.value === null) return []
  const type = exception.type === null ? [] : [{ label: 'type', value: exception.type }]
  const own = contributions(exception.stacktrace?.frames.filter((frame) => frame.in_app) ?? [], platform)
  return [...type, ...saidBy(exception, platform), ...own.map(({ value }) => value).filter(({ value }) => value !== '')]
}

/** The words of an exception without their changing parts; for an error of a script's engine, the property it is about. */
function saidBy({ type, value }: Exception, platform: string | null = null): Value[] {
  if (value === null) return []
  const property = platform === 'javascript' || platform === 'node' ? findProperty(type, value) : null
  return property === null ? textValues('value', value) : [{ label: 'property', value: property }]
}

/** A text without what changes; the places of a stack that is part of it. */
function textValues(label: string, text: string): Value[] {
  const stack = stackInText(text)
  if (stack === null) return [{ label, value: parameterise(text) }]
  return [
    { label, value: parameterise(stack.words) },
    ...stack.places.map((place) => ({ label: 'place', value: place })),
  ]
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
/** The function in which an app starts is one of its frames without a name. */
const START_FRAMES = 1

/** The app's frames of the main thread; nothing but the kind where there are none. */
function anrPart(event: Event, setting: Setting): Part | null {
  const anr = event.exceptions.findLast(isAnr)
  if (anr === undefined) return null
  const values: Value[] = [{ label: 'kind', value: 'ANR' }]
  const frames = anr.stacktrace?.frames ?? event.threads.find(({ main }) => main)?.stacktrace?.frames ?? []
  const top = frames.at(-1)?.function ?? ''
  if (!IDLE.test(top)) {
    const own = frames.filter((frame) => frame.in_app)
    const list = contributions(own, event.platform)
    if (list.some(isNamed)) values.push(...list.map(({ value }) => value))
    else if (own.length > START_FRAMES) {
      const stack = readStack(own, setting)
      if (stack?.tells === true) values.push(...stack.values)
    }
  }
  return { variant: 'anr', values }
}

function isAnr({ type, mechanism }: Exception): boolean {
  if (type !== null && ANR_TYPE.test(type)) return true
  return ANR_MECHANISMS.has((mechanism?.type ?? '').toLowerCase().replaceAll('_', ''))
}
