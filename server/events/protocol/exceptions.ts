import type { Exception, Mechanism, Stacktrace, Thread } from './event.api.ts'
import { readStacktrace, type FrameSetting } from './frames.ts'
import { cleanRecord, isEmpty, isRecord, JsonBudget, unwrapList, booleanField, numberField, textField } from './json.ts'
import { tidy, Notes } from './strings.ts'

/** Exceptions and threads of an event. */

export const MAX_VALUE = 8_192
const MAX_EXCEPTIONS = 50
const KEPT_OLDEST = 25
const MAX_THREADS = 256

/** Oldest cause first, as sent. A single object counts as a list of one; empty elements are left out. */
export function readExceptions(raw: unknown, setting: FrameSetting, rawStacks: RawStack[]): Exception[] {
  const list = unwrapList(raw, setting.notes, 'exception', true)
  if (list.length > MAX_EXCEPTIONS) {
    setting.notes.add('exception', `${list.length} exceptions; ${MAX_EXCEPTIONS} are kept.`)
  }
  const kept =
    list.length > MAX_EXCEPTIONS ? [...list.slice(0, KEPT_OLDEST), ...list.slice(KEPT_OLDEST - MAX_EXCEPTIONS)] : list
  const exceptions: Exception[] = []
  for (const element of kept) {
    if (isRecord(element)) {
      if (isEmpty(element)) continue
      const exception = readException(element, setting)
      exceptions.push(exception)
      if (element['raw_stacktrace'] != null) rawStacks.push({ of: exception, raw: element['raw_stacktrace'] })
    } else if (element !== null) setting.notes.add('exception', 'An exception is no object.')
  }
  return exceptions
}

function readException(raw: Record<string, unknown>, setting: FrameSetting): Exception {
  const notes = setting.notes
  return {
    type: textField(raw['type'], 512, notes, 'exception.type'),
    value: valueText(raw['value']),
    module: textField(raw['module'], 512, notes, 'exception.module'),
    thread_id: textField(raw['thread_id'], 64, notes, 'exception.thread_id'),
    mechanism: readMechanism(raw['mechanism'], notes),
    stacktrace: readStacktrace(raw['stacktrace'], setting, 'exception.stacktrace'),
  }
}

/** An exception or a thread that came with a `raw_stacktrace`. */
export type RawStack = { readonly of: { stacktrace: Stacktrace | null }; readonly raw: unknown }

/** Gives those without another stack their raw one. */
export function attachRawStacks(found: readonly RawStack[], setting: FrameSetting): void {
  for (const { of, raw } of found) {
    const stack = of.stacktrace === null ? readStacktrace(raw, setting, 'raw_stacktrace') : null
    if (stack !== null) of.stacktrace = { ...stack, is_raw: true }
  }
}

/** The value as text; other types as JSON. */
function valueText(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : tidy(value, MAX_VALUE)
  if (value === null || value === undefined) return null
  if (typeof value === 'object') {
    const clean = cleanRecord({ value }, new JsonBudget(MAX_VALUE), new Notes(), '')
    return clean === null ? null : tidy(JSON.stringify(clean['value'] ?? null), MAX_VALUE)
  }
  return tidy(JSON.stringify(value) ?? '', MAX_VALUE)
}

function readMechanism(raw: unknown, notes: Notes): Mechanism | null {
  if (raw === null || raw === undefined) return null
  if (!isRecord(raw)) {
    notes.add('exception.mechanism', 'Expected an object.')
    return null
  }
  if (isEmpty(raw)) return null
  return {
    type: textField(raw['type'], 128, notes, 'mechanism.type'),
    description: textField(raw['description'], 1_024, notes, 'mechanism.description'),
    help_link: textField(raw['help_link'], 1_024, notes, 'mechanism.help_link'),
    handled: booleanField(raw['handled'], notes, 'mechanism.handled'),
    synthetic: booleanField(raw['synthetic'], notes, 'mechanism.synthetic') === true,
    data: raw['data'] === undefined ? null : cleanRecord(raw['data'], new JsonBudget(8_192), notes, 'mechanism.data'),
    meta: raw['meta'] === undefined ? null : cleanRecord(raw['meta'], new JsonBudget(8_192), notes, 'mechanism.meta'),
    exception_id: numberField(raw['exception_id'], notes, 'mechanism.exception_id'),
    parent_id: numberField(raw['parent_id'], notes, 'mechanism.parent_id'),
    is_exception_group: booleanField(raw['is_exception_group'], notes, 'mechanism.is_exception_group') === true,
    source: textField(raw['source'], 256, notes, 'mechanism.source'),
  }
}

export function readThreads(raw: unknown, setting: FrameSetting, rawStacks: RawStack[]): Thread[] {
  const notes = setting.notes
  const list = unwrapList(raw, notes, 'threads')
  if (list.length > MAX_THREADS) notes.add('threads', `${list.length} threads; the first ${MAX_THREADS} are kept.`)
  const threads: Thread[] = []
  for (const element of list.length > MAX_THREADS ? list.slice(0, MAX_THREADS) : list) {
    if (!isRecord(element)) {
      if (element !== null) notes.add('threads', 'A thread is no object.')
      continue
    }
    const name = textField(element['name'], 256, notes, 'thread.name')
    const thread: Thread = {
      id: textField(element['id'], 64, notes, 'thread.id'),
      name,
      state: textField(element['state'], 64, notes, 'thread.state'),
      crashed: booleanField(element['crashed'], notes, 'thread.crashed') === true,
      current: booleanField(element['current'], notes, 'thread.current') === true,
      main: booleanField(element['main'], notes, 'thread.main') ?? name === 'main',
      stacktrace: readStacktrace(element['stacktrace'], setting, 'thread.stacktrace'),
    }
    threads.push(thread)
    if (element['raw_stacktrace'] != null) rawStacks.push({ of: thread, raw: element['raw_stacktrace'] })
  }
  return threads
}

/** The thread a crash happened on: the one marked crashed, else the current one, else the only one. */
export function crashedThread(threads: readonly Thread[]): Thread | null {
  const only = threads.length === 1 ? threads[0] : undefined
  return threads.find((thread) => thread.crashed) ?? threads.find((thread) => thread.current) ?? only ?? null
}

/**
 * Gives a stack to an exception that has none: in mobile and native crashes the stack of its thread (`thread_id`), for
 * old clients the stack of the event.
 */
export function attachStacks(exceptions: Exception[], threads: Thread[], legacy: Stacktrace | null): void {
  for (const exception of exceptions) {
    if (exception.stacktrace !== null || exception.thread_id === null) continue
    exception.stacktrace = threads.find((thread) => thread.id === exception.thread_id)?.stacktrace ?? null
  }
  const newest = exceptions.at(-1)
  const hasStack = exceptions.some((exception) => exception.stacktrace !== null)
  if (newest !== undefined && !hasStack) {
    newest.stacktrace = legacy ?? threads.find((thread) => thread.crashed)?.stacktrace ?? null
    return
  }
  if (legacy === null || hasStack) return
  const thread = crashedThread(threads)
  if (thread === null) {
    threads.push({ id: null, name: null, state: null, crashed: false, current: true, main: false, stacktrace: legacy })
  } else thread.stacktrace ??= legacy
}

/**
 * Whether any exception has `handled: false`, or a fatal native signal does not have the field. Go sends panics without
 * a mechanism that says so (`Recover`), those of a text as a message: fatal is all that tells them.
 */
export function isUnhandled(exceptions: readonly Exception[], level: string, platform: string): boolean {
  if (
    platform === 'go' &&
    level === 'fatal' &&
    exceptions.every(({ mechanism }) => (mechanism?.handled ?? null) === null)
  )
    return true
  for (const { mechanism } of exceptions) {
    if (mechanism === null) continue
    if (mechanism.handled === false) return true
    if (level === 'fatal' && mechanism.handled === null && hasNativeCause(mechanism)) return true
  }
  return false
}

/** The mechanism names a signal or a Mach exception. */
export function hasNativeCause(mechanism: Mechanism): boolean {
  const meta = mechanism.meta
  return meta !== null && (isRecord(meta['signal']) || isRecord(meta['mach_exception']))
}
