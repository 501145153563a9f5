import { expect } from 'vitest'
import { deviceSignals } from './device-signals.ts'
import { parseGuarded } from './json-guard.ts'
import { isRecord } from './json.ts'
import { leaveOutShown } from './leave-out.ts'
import { normalizeEvent } from './normalize.ts'
import { parseDecisive, scrubEvent } from './scrub.ts'

/**
 * The pass of wasm/leave-out.ts by other means, slow and short: expressions over the bytes as Latin-1. Both have the same
 * answers; tests compare them.
 */

const SPACE = /[ \n\r\t]*/y
const STRING = /"(?:[^"\\]|\\[^])*"/y
const SCALAR = /[0-9A-Za-z.+-]+/y
const STRICT_STRING = /"(?:[^"\\\x00-\x1f]|\\["\\/bfnrtu])*"/y
const STRICT_SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

type Role = 'other' | 'root' | 'holder' | 'entry' | 'stack' | 'frames' | 'frame' | 'crumbs' | 'part' | 'modules'

/** Roles of members by the role of their object. */
const MEMBERS: Partial<Record<Role, Readonly<Record<string, Role>>>> = {
  root: {
    exception: 'holder',
    threads: 'holder',
    stacktrace: 'stack',
    breadcrumbs: 'crumbs',
    extra: 'part',
    modules: 'modules',
  },
  holder: { values: 'holder', stacktrace: 'stack', raw_stacktrace: 'stack' },
  entry: { stacktrace: 'stack', raw_stacktrace: 'stack' },
  stack: { frames: 'frames' },
  frame: { vars: 'part', pre_context: 'part', post_context: 'part' },
  crumbs: { values: 'crumbs' },
}
const ELEMENTS: Partial<Record<Role, Role>> = { holder: 'entry', stack: 'frame', frames: 'frame', crumbs: 'part' }

/** Between the letters of a name. */
const GAP = String.raw`(?:\\[^]|[-_. \x80-\xff])*`
const nameOf = (word: string): string => word.split('').join(GAP)
const NAMES = new RegExp(
  String.raw`(?<!(?<!\\)(?:\\\\)*\\)(?:${[
    ...[
      'token',
      'apikey',
      'privatekey',
      'cookie',
      'password',
      'passwd',
      'mysqlpwd',
      'twofactor',
      'csrf',
      'xsrf',
      'passphrase',
      'secret',
      'credentials',
      'bearer',
    ].map(nameOf),
    `${nameOf('auth')}(?!or(?!i[sz]))`,
  ].join('|')})`,
  'i',
)
const SESSIONS = /sessionid|phpsessid|(?:irclog|laravel_|my|user_?|__)session|connect\.sid|sentrysid|symfony/i
/** The last is a sign whose small letter is k. */
const EXACT = /device\.event|app_memory|\xe2\x84\xaa/
const OTP = /(?<![a-z])t?otp|otp(?![a-z])|otp[\w.\-[\]%$]{76}/i
const HOMES = /[\\/](?:(?:home|Users)[\\/]|Documents)/
const USER_OF_ADDRESS = /\/\\?\/[^/?#"'<>\\\x00-\x20]*@/
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11}/

function finds(part: string): boolean {
  const plain = part.replaceAll(/\\[^]/g, '\\\\')
  return (
    NAMES.test(part) ||
    SESSIONS.test(part) ||
    EXACT.test(part) ||
    OTP.test(plain) ||
    HOMES.test(part) ||
    USER_OF_ADDRESS.test(part) ||
    IBAN.test(plain) ||
    (part.match(/[0-9 -]*\d{2}[0-9 -]*/g) ?? []).some(
      (run) => run.replaceAll(/\D/g, '').length >= 14 || /\d{3}-\d{2}-\d{4}/.test(run),
    )
  )
}

/** The bytes that the pass returns for a text; null when it leaves out too little, or cannot read it. */
function leaveOutSlowly(bytes: Buffer): Buffer | null {
  const text = bytes.toString('latin1')
  let at = 0
  let from = 0
  let out = ''
  let stays = false
  let keys = 0

  const move = (expression: RegExp): string | null => {
    expression.lastIndex = at
    const found = expression.exec(text)?.[0] ?? null
    at += found?.length ?? 0
    return found
  }
  /** Reads a list or an object. */
  const container = (depth: number, member: (key: string) => boolean, element: () => boolean): boolean => {
    const isObject = text[at++] === '{'
    if (depth > 64) return false
    const close = isObject ? '}' : ']'
    move(SPACE)
    if (text[at] === close) return ++at > 0
    for (;;) {
      let key = ''
      if (isObject) {
        const found = move(STRING)
        if (found === null) return false
        key = found.slice(1, -1)
        move(SPACE)
        if (text[at++] !== ':') return false
        move(SPACE)
      }
      if (!(isObject ? member(key) : element())) return false
      move(SPACE)
      const mark = text[at++]
      if (mark === close) return true
      if (mark !== ',') return false
      move(SPACE)
    }
  }
  const read = (role: Role, depth: number): boolean => {
    const first = text[at]
    const isOpen = first === '{' || first === '['
    if (isOpen && (role === 'part' || role === 'modules')) return part(role, depth)
    if (first === '"') return move(STRING) !== null
    if (!isOpen) return move(SCALAR) !== null
    const members = MEMBERS[role] ?? {}
    return container(
      depth,
      (key) => read((Object.hasOwn(members, key) ? members[key] : undefined) ?? 'other', depth + 1),
      () => read(ELEMENTS[role] ?? 'other', depth + 1),
    )
  }
  const part = (role: Role, depth: number): boolean => {
    const start = at
    stays = false
    if (!check(depth)) return false
    if (stays || at - start < 12 || (role === 'part' && finds(text.slice(start, at)))) return true
    out += `${text.slice(from, start)}null`
    from = at
    return true
  }
  const isGoodString = (string: string): boolean => {
    STRICT_STRING.lastIndex = 0
    const isGood = STRICT_STRING.exec(string)?.[0] === string
    if (/^"[{[]|(?<!\\)(?:\\\\)*\\[ub]/.test(string)) stays = true
    return isGood
  }
  const check = (depth: number): boolean => {
    const first = text[at]
    if (first === '"') {
      const string = move(STRING)
      return string !== null && isGoodString(string)
    }
    if (first !== '{' && first !== '[') {
      const scalar = move(STRICT_SCALAR)
      if (scalar === null || scalar === '') return false
      if (/^[^tfn]*e/i.test(scalar) || scalar.replaceAll(/\D/g, '').length >= 16) stays = true
      return true
    }
    const known = new Set<string>()
    return container(
      depth,
      (key) => {
        if (!isGoodString(`"${key}"`)) return false
        const isForbidden = ['__proto__', 'prototype', 'constructor'].includes(key)
        if (/[\\\x80-\xff]/.test(key) || isForbidden || ++keys > 3000 || known.has(key)) stays = true
        known.add(key)
        return check(depth + 1)
      },
      () => check(depth + 1),
    )
  }

  move(SPACE)
  if (text[at] !== '{' || !read('root', 1)) return null
  move(SPACE)
  if (at !== text.length) return null
  out += text.slice(from)
  return text.length - out.length < text.length >> 3 ? null : Buffer.from(out, 'latin1')
}

const CONTEXT = {
  eventId: '9ec79c33ec9942ab8353589fcb2e04dc',
  receivedAt: new Date(1_795_050_000_000),
  sentAt: null,
  clientIp: null,
  userAgent: null,
  onlyDecisive: true,
}

/** Both passes answer alike; where the decisive parts suffice, the whole has nothing to scrub and says the same. */
export function leavesOutAlike(bytes: Buffer): void {
  expect(leaveOutShown(bytes)?.toString('latin1') ?? null).toBe(leaveOutSlowly(bytes)?.toString('latin1') ?? null)
  const decisive = parseDecisive(bytes, 0, bytes.length, {})
  if (decisive === null) return
  const { value, isExact, dropped } = parseGuarded(bytes)
  if (!isRecord(value) || !isRecord(decisive.value)) throw new Error('no object')
  expect([isExact, dropped, scrubEvent(value)]).toEqual([true, 0, false])
  expect(normalizeEvent(decisive.value, CONTEXT)).toEqual(normalizeEvent(value, CONTEXT))
  const at = CONTEXT.receivedAt
  expect(deviceSignals(decisive.value, at, 0)).toEqual(deviceSignals(value, at, 0))
}
