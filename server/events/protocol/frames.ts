import type { Frame, Stacktrace, Exception, Mechanism, Thread } from './event.api.ts'
import { isInApp } from './in-app.ts'
import {
  cleanRecord,
  isList,
  isRecord,
  isSafeKey,
  JsonBudget,
  type JsonRecord,
  addressField,
  booleanField,
  numberField,
  textField,
  isEmpty,
  unwrapList,
} from './json.ts'
import { Notes, tidy } from './strings.ts'
import { isSdkFrame, isSystemImage } from './sdk-frames.ts'

/** Stack traces and their frames. Order is kept: outermost call first. */

const MAX_FRAMES = 250
/** Outermost frames that are kept of a longer stack; the others are the innermost. */
const KEPT_OUTERMOST = 50
const MAX_CONTEXT_LINES = 20
const MAX_LINE = 1_024
const MAX_REGISTERS = 128

/** The setting that frames need from their event. */
export type FrameSetting = {
  platform: string
  images: readonly ImageRange[]
  /** The images that `addr_mode: rel:<index>` refers to. */
  imageFiles: readonly (string | null)[]
  variables: JsonBudget
  /** False leaves out lines around frames, variables and registers. */
  withDetail: boolean
  notes: Notes
}

/** A stack trace; null without frames. */
export function readStacktrace(raw: unknown, setting: FrameSetting, name: string): Stacktrace | null {
  if (raw === null || raw === undefined) return null
  const list = isRecord(raw) ? raw['frames'] : raw
  if (list === null || list === undefined) return null
  if (!isList(list)) {
    setting.notes.add(name, 'Expected a list of frames.')
    return null
  }
  const kept =
    list.length > MAX_FRAMES ? [...list.slice(0, KEPT_OUTERMOST), ...list.slice(KEPT_OUTERMOST - MAX_FRAMES)] : list
  if (kept !== list) setting.notes.add(name, `${list.length} frames; ${MAX_FRAMES} are kept.`)
  const frames: Frame[] = []
  for (const element of kept) {
    if (isRecord(element)) frames.push(readFrame(element, setting))
    else if (element !== null) setting.notes.add(name, 'A frame is no object.')
  }
  if (frames.length === 0) return null
  const registers = isRecord(raw) && setting.withDetail ? readRegisters(raw['registers'], setting.notes) : null
  return { frames, registers }
}

function readFrame(raw: Record<string, unknown>, setting: FrameSetting): Frame {
  const notes = setting.notes
  const ownPlatform = textField(raw['platform'], 64, notes, 'frame.platform')
  const instructionAddr = addressField(raw['instruction_addr'], notes, 'frame.instruction_addr')
  const frame: Frame = {
    filename: textField(raw['filename'], 1_024, notes, 'frame.filename'),
    abs_path: textField(raw['abs_path'], 2_048, notes, 'frame.abs_path'),
    function: textField(raw['function'], 1_024, notes, 'frame.function'),
    raw_function: textField(raw['raw_function'], 1_024, notes, 'frame.raw_function'),
    module: textField(raw['module'], 1_024, notes, 'frame.module'),
    package: textField(raw['package'], 1_024, notes, 'frame.package'),
    platform: ownPlatform,
    lineno: lineNumber(raw['lineno'], notes, 'frame.lineno'),
    colno: lineNumber(raw['colno'], notes, 'frame.colno'),
    in_app: true,
    context_line: contextLine(raw['context_line'], notes),
    pre_context: setting.withDetail ? contextLines(raw['pre_context'], notes, 'frame.pre_context') : NO_LINES,
    post_context: setting.withDetail ? contextLines(raw['post_context'], notes, 'frame.post_context') : NO_LINES,
    vars: raw['vars'] === undefined || !setting.withDetail ? null : readVars(raw['vars'], setting),
    instruction_addr: instructionAddr,
    symbol_addr: addressField(raw['symbol_addr'], notes, 'frame.symbol_addr'),
    image_addr: addressField(raw['image_addr'], notes, 'frame.image_addr'),
  }
  if (instructionAddr !== null) placeInImage(frame, instructionAddr, raw['addr_mode'], setting)
  const inApp = raw['in_app']
  const platform = ownPlatform ?? setting.platform
  frame.in_app =
    typeof inApp === 'boolean' ? inApp : (booleanField(inApp, notes, 'frame.in_app') ?? isInApp(frame, platform))
  if (frame.in_app && isRuntimeFrame(frame, platform)) {
    frame.in_app = false
    frame.marked_in_app = true
  }
  return frame
}

/** Sets package and image address of a native frame from the image of its address. */
function placeInImage(frame: Frame, address: string, addrMode: unknown, setting: FrameSetting): void {
  if (frame.package !== null && frame.image_addr !== null) return
  if (typeof addrMode === 'string' && addrMode.startsWith('rel:')) {
    const index = Number(addrMode.slice(4))
    frame.package ??= setting.imageFiles[index] ?? null
    return
  }
  const image = imageAt(setting.images, address)
  if (image === null) return
  frame.package ??= image.package
  frame.image_addr ??= image.imageAddr
}

function lineNumber(value: unknown, notes: Notes, name: string): number | null {
  if (value === undefined || value === null || value === 0) return null
  const number = numberField(value, notes, name)
  return number === null || number < 0 ? null : Math.trunc(number)
}

function contextLine(value: unknown, notes: Notes): string | null {
  if (typeof value === 'string') return tidy(value, MAX_LINE)
  return textField(value, MAX_LINE, notes, 'frame.context_line')
}

const NO_LINES: string[] = []

function contextLines(value: unknown, notes: Notes, name: string): string[] {
  if (value === undefined || value === null) return NO_LINES
  if (!isList(value)) {
    notes.add(name, 'Expected a list of lines.')
    return NO_LINES
  }
  const lines: string[] = []
  for (const line of value.length > MAX_CONTEXT_LINES ? value.slice(0, MAX_CONTEXT_LINES) : value) {
    lines.push(typeof line === 'string' ? tidy(line, MAX_LINE) : (textField(line, MAX_LINE, notes, name) ?? ''))
  }
  return lines
}

/** Variables by name; for a list, as PHP and old clients send it, by index. */
function readVars(value: unknown, setting: FrameSetting): Frame['vars'] {
  const named = isList(value) ? Object.fromEntries(value.slice(0, 100).entries()) : value
  return cleanRecord(named, setting.variables, setting.notes, 'frame.vars')
}

function readRegisters(value: unknown, notes: Notes): Record<string, string> | null {
  if (value === undefined || value === null) return null
  if (!isRecord(value)) {
    notes.add('stacktrace.registers', 'Expected an object.')
    return null
  }
  const registers: Record<string, string> = {}
  let count = 0
  for (const [name, address] of Object.entries(value)) {
    if (count === MAX_REGISTERS) break
    const text = textField(address, 64, notes, 'stacktrace.registers')
    const key = tidy(name, 32)
    if (text === null || !isSafeKey(key)) continue
    registers[key] = text
    count += 1
  }
  return count === 0 ? null : registers
}

/** Frames that are not in-app, whatever the SDK sent: of SDKs, runtimes, standard libraries and bundlers. */

type Located = Pick<Frame, 'filename' | 'abs_path' | 'function' | 'module' | 'package'>

/** @param platform the frame's, else the event's */
export function isRuntimeFrame(frame: Located, platform: string): boolean {
  switch (platform) {
    case 'javascript':
    case 'node':
      return isOfBundler(frame, platform)
    case 'native':
    case 'c':
    case 'cpp':
    case 'rust':
    case 'cocoa':
    case 'objc':
    case 'swift':
      return isNativeRuntime(frame) || isSdkFrame(frame, platform)
    case 'java':
    case 'android':
    case 'kotlin':
    case 'scala':
    case 'groovy':
      return (frame.module !== null && JVM.test(frame.module)) || isSdkFrame(frame, platform)
    case 'go':
      return isGoStandard(frame) || isSdkFrame(frame, platform)
    case 'php':
      return frame.filename === '[internal]' || isSdkFrame(frame, platform)
    case 'ruby':
      return RUBY.test(frame.abs_path ?? frame.filename ?? '') || isSdkFrame(frame, platform)
    case 'csharp':
      return DOTNET.test(frame.module ?? frame.function ?? '') || isSdkFrame(frame, platform)
    case 'dart':
      return DART.test(frame.abs_path ?? frame.filename ?? '') || isSdkFrame(frame, platform)
    default:
      return false
  }
}

/** Not all that is out of the app by default: apps configure that `com.android.settings` is theirs. */
const JVM =
  /^(?:java|javax|jdk|sun|com\.sun\.proxy|kotlin|kotlinx|scala|groovy|org\.codehaus\.groovy|clojure|dalvik|libcore|android|androidx|com\.android\.internal)\./
const DOTNET =
  /^(?:System|Mono|Interop|Internal|UnityEngine|Microsoft\.(?:AspNetCore|Extensions|EntityFrameworkCore|CSharp|VisualBasic|Win32|Data|Maui|UI|CodeAnalysis))(?:\.|$)/
const DART = /^(?:dart:|package:flutter\/)/
/** The library of Ruby, not the gems beside it. */
const RUBY = /^<internal:|\/lib\/ruby\/\d[\d.]*\/|\/lib\/ruby\/(?:site|vendor)_ruby\//

/** Names that have no extension are made up by the bundler. */
const BUNDLER =
  /(?:^|\/)webpack\/(?:bootstrap|startup|before-startup|after-startup|runtime\/[\w ]{1,80})(?:[? ][\w ]{0,80})?$|\(webpack\)\/|\/@vite\/|\/@react-refresh|\[turbopack\]|(?:^|\/|\0)vite\/(?:preload-helper|modulepreload-polyfill)|commonjsHelpers\.js|rollupPluginBabelHelpers|\/parcel-bundler\//

function isOfBundler(frame: Located, platform: string): boolean {
  // Where a bundle was resolved, the address belongs to the bundle, and the name to the source.
  const { filename, abs_path: path } = frame
  if (filename !== null && isOfLibrary(filename)) return true
  if (path !== null && path !== filename && isOfLibrary(path)) return true
  return (
    platform === 'javascript' &&
    ((filename !== null && BUNDLER.test(filename)) || (path !== null && BUNDLER.test(path)))
  )
}

const isOfLibrary = (path: string): boolean =>
  path.includes('node_modules') && /(?:^|[\\/])node_modules[\\/]/.test(path)

const RUST_SOURCE =
  /^(?:[a-z]:)?[\\/]rustc[\\/][0-9a-f]{7,40}[\\/]|[\\/]rustlib[\\/]src[\\/]rust[\\/]|^library[\\/](?:std|core|alloc)[\\/]src[\\/]/i
const STANDARD = /^std::/
const RUST_STANDARD =
  /^(?:core|alloc)::(?:any|alloc|array|ascii|borrow|boxed|cell|char|clone|cmp|collections|convert|default|error|f32|f64|ffi|fmt|future|hash|hint|intrinsics|iter|marker|mem|num|ops|option|pin|ptr|raw_vec|rc|result|slice|str|string|sync|task|time|vec)::/
/** Functions of a standard type (or of any), from a standard trait. */
const RUST_IMPL = /^<(?:&(?:mut )?|dyn |\*(?:const|mut) |\[|\()*(?:(?:std|core|alloc)::|[A-Z]\w? as )/
const OTHER_TRAIT = / as (?!(?:std|core|alloc)::)/
const SYSTEM_FOLDER =
  /^(?:\/System\/|\/usr\/lib\/(?:system|swift)\/|\/apex\/|[a-z]:\\windows\\)|\/RuntimeRoot\/(?:System|usr\/lib)\//i

function isNativeRuntime({ function: name, package: image, abs_path: absPath, filename }: Located): boolean {
  const path = absPath ?? filename
  if (path !== null && RUST_SOURCE.test(path)) return true
  if (image !== null && (SYSTEM_FOLDER.test(image) || isSystemImage(image))) return true
  if (name === null) return false
  if (STANDARD.test(name) || (RUST_IMPL.test(name) && !OTHER_TRAIT.test(name))) return true
  // C++ has namespaces of these names too, and writes arguments.
  return RUST_STANDARD.test(name) && !name.endsWith(')') && (path === null || path.endsWith('.rs'))
}

const GO_ROOT =
  /^\/usr\/(?:local|lib)\/go(?:-[\d.]+)?\/src\/|\/libexec\/src\/|\/go\d[\d.]*(?:\/go)?\/src\/|\/go\/\d[\d.]*\/\w+\/src\/|[\\/]Program Files[\\/]Go[\\/]src[\\/]/
const GO_PACKAGE =
  /^(?:bufio|bytes|compress|container|context|crypto|database\/sql|debug|encoding|errors|fmt|hash|html|image|io|log|maps|math|mime|net|os|path|reflect|regexp|runtime|slices|sort|strconv|strings|sync|syscall|testing|text|time|unicode|unsafe|internal)(?:\/|$)/

/** By where the file lies; where that is not known, by the package. */
function isGoStandard({ module, abs_path: path }: Located): boolean {
  if (path !== null && /^(?:\/|[a-z]:)/i.test(path)) return GO_ROOT.test(path)
  return module !== null && GO_PACKAGE.test(module)
}

/** Debug images of an event, and the image of an address. */

const MAX_IMAGES = 2_000

export type ImageRange = { start: number; end: number; package: string; imageAddr: string }

/** `debug_meta.images`, cleaned, with addresses as lower-case hexadecimal text and old `uuid` of Mach-O as `debug_id`. */
export function readImages(debugMeta: unknown, budget: JsonBudget, notes: Notes): JsonRecord[] {
  if (debugMeta === null || debugMeta === undefined) return []
  const list = isRecord(debugMeta) ? debugMeta['images'] : undefined
  if (list === null || list === undefined) return []
  if (!isList(list)) {
    notes.add('debug_meta.images', 'Expected a list.')
    return []
  }
  if (list.length > MAX_IMAGES)
    notes.add('debug_meta.images', `${list.length} images; the first ${MAX_IMAGES} are kept.`)
  const images: JsonRecord[] = []
  for (const raw of list.slice(0, MAX_IMAGES)) {
    if (raw === null) continue
    const image = cleanRecord(raw, budget, notes, 'debug_meta.images')
    if (image !== null) images.push(withAddressText(image, notes))
  }
  return images
}

function withAddressText(image: JsonRecord, notes: Notes): JsonRecord {
  const needsDebugId = image['debug_id'] === undefined && typeof image['uuid'] === 'string' && isMachO(image['type'])
  const addr = image['image_addr']
  const normalised = addressField(addr, notes, 'debug_meta.images.image_addr')
  if (!needsDebugId && (addr === undefined || normalised === addr)) return image
  const copy: JsonRecord = { ...image }
  if (addr !== undefined) copy['image_addr'] = normalised
  if (needsDebugId) copy['debug_id'] = image['uuid'] ?? null
  return copy
}

function isMachO(type: unknown): boolean {
  return type === 'macho' || type === 'apple' || type === 'symbolic'
}

/**
 * The images that occupy memory, by address. Above 2^53 an address loses its last bits, which is exact enough for an
 * image.
 */
export function imageRanges(images: readonly JsonRecord[]): ImageRange[] {
  const ranges: ImageRange[] = []
  for (const image of images) {
    const imageAddr = image['image_addr']
    const size = image['image_size']
    const file = image['code_file'] ?? image['name']
    if (typeof imageAddr !== 'string' || typeof file !== 'string' || file === '') continue
    const start = Number(imageAddr)
    if (!Number.isFinite(start)) continue
    const length = typeof size === 'number' && size > 0 ? size : 0
    ranges.push({ start, end: start + length, package: file, imageAddr })
  }
  return ranges.toSorted((a, b) => a.start - b.start)
}

/** The image of an absolute address; an image of unknown size ends at the next one. */
export function imageAt(ranges: readonly ImageRange[], address: string): ImageRange | null {
  const at = Number(address)
  let low = 0
  let high = ranges.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const range = ranges[middle]
    if (range === undefined) return null
    if (range.start <= at) low = middle + 1
    else high = middle - 1
  }
  const found = ranges[high]
  if (found === undefined) return null
  return found.end === found.start || at < found.end ? found : null
}

/** Exceptions and threads of an event. */

const MAX_VALUE = 8_192
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
