import { hash } from 'node:crypto'
import type { Event } from '../protocol/event.api.ts'

/**
 * Grouping, version 1. Once frozen this file never changes again: issues are found by what it answers. It therefore
 * keeps private copies of all it needs and imports nothing but the type of an event.
 *
 * Order: the SDK's fingerprint → application not responding → oldest causal exception with a usable stack → message →
 * stack of the crashed thread → type and value → nothing but type and platform. A message event goes by its words even
 * where a stack came with it: JVM clients mark the thread of every plain message as crashed.
 */

type Value = { label: string; value: string }
type Part = { variant: string; values: Value[] }
type Exception = Event['exceptions'][number]
type Frame = NonNullable<Exception['stacktrace']>['frames'][number]

const VERSION = 1

/** Parts in the order they count and the SHA-256 over their unambiguous encoding. */
export function fingerprintV1(event: Event): { hash: Buffer; parts: Part[] } {
  const parts = partsOf(event)
  return { hash: hash('sha256', JSON.stringify([VERSION, parts.map(encodable)]), 'buffer'), parts }
}

function encodable(part: Part): unknown {
  return [part.variant, part.values.map(({ label, value }) => [label, value])]
}

function partsOf(event: Event): Part[] {
  const sent = event.fingerprint
  if (sent === null || sent.length === 0) return [computedPart(event)]
  let withDefault = false
  const values: Value[] = []
  for (const element of sent) {
    if (/^\{\{\s*default\s*\}\}$/.test(element)) {
      withDefault = true
      values.push({ label: 'default', value: '{{ default }}' })
    } else values.push({ label: 'fingerprint', value: element })
  }
  const part = { variant: 'sdk_fingerprint', values }
  return withDefault ? [part, computedPart(event)] : [part]
}

function computedPart(event: Event): Part {
  return (
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
  if (event.exceptions.some(({ type }) => type !== null)) return null
  const { threads } = event
  const thread =
    threads.find(({ crashed }) => crashed) ??
    threads.find(({ current }) => current) ??
    (threads.length === 1 ? threads[0] : undefined)
  const frames = stackValues(thread?.stacktrace?.frames ?? [], event.platform)
  return frames === null ? null : { variant: 'thread_stack', values: frames.values }
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
  /(?:^|[\\/])(?:node_modules[\\/]@?sentry(?:-internal)?[\\/]|sentry_sdk[\\/])|^package:sentry|[\\/]raven[\\/]/
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

function fileName(path: string): string {
  const decoded =
    path.includes('%2F') || path.includes('%3A') ? path.replaceAll('%2F', '/').replaceAll('%3A', ':') : path
  let end = decoded.length
  for (const stop of ['?', '#']) {
    const at = decoded.indexOf(stop)
    if (at >= 0 && at < end) end = at
  }
  const base = baseName(decoded.slice(0, end)).replace(/(?::\d+){1,2}$/, '')
  return withoutBuildHash(base).toLowerCase()
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}

/** `app-a1b2c3d4.js`, `app.3f2a9c1b.min.js`, `index-BR-l9zjD.js`: what a bundler put in to outwit caches. */
function withoutBuildHash(name: string): string {
  if (!/[-._~]/.test(name)) return name
  const short = name.replaceAll(/[-._~](?=[a-f]*\d)[0-9a-f]{7,64}(?=$|[.\-_])/g, '')
  const match = /-([\w-]{8})((?:\.(?:min|chunk|bundle))*(?:\.[cm]?[jt]sx?|\.css)?)$/.exec(short)
  const mark = match?.[1] ?? ''
  if (match === null || !(/\d/.test(mark) || /.[A-Z]/.test(mark)) || /^\d{4}-\d\d-?$/.test(mark)) return short
  return short.slice(0, match.index) + (match[2] ?? '')
}

// --- Names of functions and classes -------------------------------------------------------------------------------

/** Null: the function has no name that would still be its name tomorrow. */
function cleanFunction(raw: string, platform: string): string | null {
  switch (platform) {
    case 'javascript':
    case 'node':
      return cleanScriptFunction(raw)
    case 'java':
    case 'android':
    case 'kotlin':
    case 'scala':
    case 'groovy':
      return cleanJvmFunction(raw)
    case 'native':
    case 'c':
    case 'cpp':
    case 'rust':
    case 'cocoa':
    case 'objc':
    case 'swift':
      return cleanNativeFunction(raw)
    case 'go':
      return raw.replaceAll(/\.func\d+(?:\.\d+)*/g, '.func').replace(/\[[^\]]*\]$/, '')
    default:
      return cleanOtherFunction(raw)
  }
}

const SCRIPT_ANONYMOUS = new Set([
  '',
  '?',
  '<anonymous>',
  'anonymous',
  '<unknown>',
  'eval',
  '(anonymous)',
  'Anonymous function',
])

function cleanScriptFunction(raw: string): string | null {
  let name = raw.trim()
  const as = name.indexOf(' [as ')
  if (as >= 0) name = name.slice(0, as)
  name = name.replace(/^(?:async |new |get |set )+/, '')
  const dot = name.lastIndexOf('.')
  if (SCRIPT_ANONYMOUS.has(name.slice(dot + 1))) return null
  return name.replace(/^(?:Object|Module|Function|exports|module\.exports|null|undefined|window|self|global)\./, '')
}

function cleanJvmFunction(raw: string): string | null {
  if (!raw.includes('$')) return raw
  return raw
    .replace(/^lambda\$([^$]*)\$.*$/, 'lambda$$$1')
    .replace(/^access\$\d+$/, 'access$$')
    .replaceAll(/\$(?:lambda\$)?\d+/g, '$$')
}

/** Classes made while running or numbered by the compiler keep the part a person wrote. */
function cleanClass(raw: string): string {
  if (!raw.includes('$') && !raw.includes('Accessor')) return raw
  return raw
    .replace(/\$\$(?:ExternalSynthetic)?Lambda[$/\dx]?.*$/, '$$$$Lambda')
    .replace(/\$\$(?:EnhancerBy|FastClassBy)?(?:Spring)?CGLIB\$\$.*$/, '$$$$CGLIB')
    .replace(/\$\$Enhancer\w*\$\$.*$/, '$$$$Enhancer')
    .replace(/(Generated(?:Method|Constructor|SerializationConstructor)Accessor)\d+$/, '$1')
    .replace(/\$Proxy\d+$/, '$$Proxy')
    .replaceAll(/\$\d+(?=$|\$)/g, '$$')
}

function cleanNativeFunction(raw: string): string | null {
  let name = raw.trim()
  if (name === '' || name === '?' || name === '<unknown>' || name === '<redacted>' || name === '???') return null
  if (/^(?:0x[0-9a-f]+|sub_[0-9a-f]+|loc_[0-9a-f]+|FUN_[0-9a-f]+)$/i.test(name)) return null
  name = name.replace(/ ?\+ ?(?:0x[0-9a-f]{1,16}|\d{1,12})$/i, '')
  if (/^[-+]\[/.test(name)) return name
  const block = /^__\d*([-+]\[[^\]]{1,500}\])_block_invoke/.exec(name)
  if (block !== null) return `${block[1] ?? ''} block`
  name = name
    .replace(/(?:\.(?:cold|isra|constprop|part|llvm|lto_priv)(?:\.\d+)*)+$/, '')
    .replace(/ \[clone [^\]]{1,100}\]$/, '')
    .replace(/::h[0-9a-f]{16}$/, '')
    .replace(
      /^(?:(?:specialized|merged|static|@objc|partial apply for|thunk for|protocol witness for|dispatch thunk of) )+/,
      '',
    )
    .replaceAll(/closure #\d+ (?:\([^)]{0,200}\)(?: -> \S{1,200})? )?in /g, 'closure in ')
    .replaceAll('(anonymous namespace)::', '')
    .replaceAll(/\{lambda\([^)]{0,200}\)#\d+\}/g, '{lambda}')
  return withoutArguments(name)
}

/** Drops template and call arguments, what comes after them, and a return type before the name. */
function withoutArguments(name: string): string | null {
  if (name.includes('operator')) return name
  let depth = 0
  let text = ''
  for (const character of name) {
    if (character === '<' || character === '(') {
      if (depth === 0 && character === '(' && text.trim() !== '' && !text.endsWith('::')) {
        // Swift keeps its labels: `evict(_:)` and `evict(_:at:)` are two functions.
        const labels = /^\(((?:[\w]+:)+)\)/.exec(name.slice(name.indexOf('(')))
        if (labels !== null) text += labels[0]
        break
      }
      depth += 1
    } else if (character === '>' || character === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) text += character
  }
  const plain = text.trim()
  if (plain.startsWith('closure in ')) return plain
  const last = plain.slice(plain.lastIndexOf(' ') + 1)
  return last === '' ? name : last
}

const OTHER_ANONYMOUS = new Set([
  '',
  '?',
  '<unknown>',
  '<anonymous>',
  '<lambda>',
  '{closure}',
  '[Anonymous function]',
  '(anonymous)',
])

function cleanOtherFunction(raw: string): string | null {
  const name = raw.trim()
  if (OTHER_ANONYMOUS.has(name) || name.endsWith('\\{closure}') || name.includes('class@anonymous')) return null
  return name.replace(/^(?:block(?: \(\d+ levels\))?|rescue|ensure) in /, '')
}

// --- Words --------------------------------------------------------------------------------------------------------

const MAX_WORDS = 1_024

/** Numbers that mean the same tomorrow are matched first, whole, and stay. */
const FLEETING = new RegExp(
  [
    String.raw`(?<keep>\b(?:HTTP(?:\/\d(?:\.\d)?)?|status(?: ?code)?|SQLSTATE|errno|signal|exit (?:code|status))[ =:#[(]{0,3}\d[0-9A-Z]{0,4}\b|\b[1-5]\d\d (?:OK|Bad Request|Unauthorized|Forbidden|Not Found|Method Not Allowed|Conflict|Gone|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time-?out)\b)`,
    String.raw`(?<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})`,
    String.raw`(?<url>\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)\]]{1,1000})`,
    String.raw`(?<path>(?:[A-Za-z]:)?[\\/](?:Users|home|Documents and Settings)[\\/][^\s"'<>:)]{1,500})`,
    String.raw`(?<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)`,
    String.raw`(?<address>\b0x[0-9a-f]{1,32}\b)`,
    String.raw`(?<date>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?\b|\b\d{1,2}\/\d{1,2}\/\d{2,4}\b|\b\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\b)`,
    String.raw`(?<ip>\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b)`,
    String.raw`(?<host>\b(?:[a-z0-9-]{1,63}\.){1,8}(?:com|net|org|io|dev|app|local|internal|localdomain)(?::\d{1,5})?\b|\blocalhost(?::\d{1,5})?\b)`,
    String.raw`(?<hex>\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,128}\b)`,
    String.raw`(?<duration>\b\d{1,15}(?:\.\d{1,9})? ?(?:ns|µs|us|ms|s|sec|secs|seconds?|min|minutes?|h|hours?|days?)\b)`,
    String.raw`(?<number>(?<![A-Za-z_\d])[-+]?\d{1,40}(?:\.\d{1,40})?(?:e[-+]?\d{1,4})?(?![A-Za-z_])|\d{3,})`,
    String.raw`(?<quoted>(?<![\w])'[^'\n]{0,200}'(?!\w)|"[^"\n]{0,200}"|\x60[^\x60\n]{0,200}\x60)`,
    String.raw`(?<boolean>\b(?:true|false)\b)`,
  ].join('|'),
  'giu',
)

/** Replaces what changes from one occurrence to the next by its kind, in the first 1,024 characters. */
function parameterise(text: string): string {
  const head = text.length > MAX_WORDS ? text.slice(0, MAX_WORDS) : text
  return head.replace(FLEETING, (...found: unknown[]) => {
    const groups = found.at(-1)
    if (typeof groups !== 'object' || groups === null) return ''
    for (const [kind, match] of Object.entries(groups)) {
      if (typeof match === 'string') return kind === 'keep' ? match : `<${kind}>`
    }
    return ''
  })
}
