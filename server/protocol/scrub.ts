import { isList, isRecord } from './json.ts'
import { type GuardedJson, parseGuarded } from './json-guard.ts'
import {
  KEY_ADDRESS,
  KEY_COOKIE,
  KEY_EXEMPT,
  KEY_FIXED,
  KEY_PLAIN,
  KEY_SENSITIVE,
  type KeyClass,
  KeyJudge,
  type ScrubRules,
} from './scrub-keys.ts'
import { isCard } from './scrub-numbers.ts'
import { scrubText } from './scrub-text.ts'
import { FILTERED } from './scrub-words.ts'

export type { ScrubRules } from './scrub-keys.ts'

/** Deeper structures are replaced whole: the guard before parsing refuses them anyway. */
const MAX_DEPTH = 128

/** So many texts of one payload are tried as JSON: a failing parse is dear, and a payload can hold 100,000 of them. */
const MAX_JSON_TEXTS = 500

const DEFAULT_RULES: ScrubRules = {}

/** Compiled rules by object, and by content for callers that read the same rules again and again. */
const judges = new WeakMap<ScrubRules, KeyJudge>()
const judgesByContent = new Map<string, KeyJudge>()
const MAX_JUDGES = 200

function judgeOf(rules: ScrubRules): KeyJudge {
  const known = judges.get(rules)
  if (known !== undefined) return known
  const content = JSON.stringify([
    rules.sensitiveKeys ?? [],
    rules.safeKeys ?? [],
    rules.defaults ?? true,
    rules.removeAddresses ?? false,
    rules.removeEmails ?? false,
    rules.rules ?? [],
    rules.hashKey?.toString('base64') ?? '',
  ])
  const judge = judgesByContent.get(content) ?? new KeyJudge(rules)
  if (judgesByContent.size >= MAX_JUDGES) judgesByContent.clear()
  judgesByContent.set(content, judge)
  judges.set(rules, judge)
  return judge
}

/**
 * Removes secrets from a payload, in place, before anything of it is stored (ingest protocol 19), and answers whether
 * anything changed. Works on raw events and on any other object that came from JSON (attributes of logs and spans).
 * Never throws. Rules are compiled once and remembered; a rules object must not change afterwards.
 * @param mostJsonTexts how many texts may be tried as JSON, where many small payloads come at once
 */
export function scrubEvent(
  raw: Record<string, unknown>,
  rules: ScrubRules = DEFAULT_RULES,
  mostJsonTexts = MAX_JSON_TEXTS,
): boolean {
  const judge = judgeOf(rules)
  judge.jsonTextsLeft = mostJsonTexts
  // Rules first: the defaults then judge what is left, and whatever a rule put together.
  const byRules = judge.project === null ? false : judge.project.apply(raw)
  return scrubRecord(raw, KEY_PLAIN, judge, 0) || byRules
}

/** What may be stored of the connection that brought an item: rules about address and user agent count for it too. */
export function scrubConnection(
  { clientIp, userAgent }: { readonly clientIp: string | null; readonly userAgent: string | null },
  rules: ScrubRules = DEFAULT_RULES,
): { clientIp: string | null; userAgent: string | null } {
  const kept = rules.removeAddresses === true ? null : clientIp
  const { project } = judgeOf(rules)
  if (project === null) return { clientIp: kept, userAgent }
  const stand = { user: { ip_address: kept }, request: { headers: { 'User-Agent': userAgent } } }
  project.apply(stand)
  return {
    clientIp: stand.user?.ip_address === kept ? kept : null,
    userAgent: stand.request?.headers?.['User-Agent'] === userAgent ? userAgent : null,
  }
}

/** `around` is what the key that holds this record said: inside cookies every name is a cookie's. */
function scrubRecord(record: Record<string, unknown>, around: KeyClass, judge: KeyJudge, depth: number): boolean {
  let changed = false
  for (const key in record) {
    const value = record[key]
    if (value === null || typeof value === 'boolean') continue
    let kind = judge.classOf(key)
    if (kind === KEY_EXEMPT) continue
    // Debug images and the SDK stand at the top; an object below it is whatever an app made of the name.
    if (kind === KEY_FIXED && (depth === 0 || typeof value !== 'object')) continue
    if (around === KEY_COOKIE) kind = judge.isSensitiveCookie(key) ? KEY_SENSITIVE : KEY_COOKIE
    else if (kind === KEY_PLAIN && around !== KEY_FIXED) kind = around
    if (key === 'type' && kind !== KEY_SENSITIVE) continue
    const clean = scrubValue(value, key, kind, judge, depth)
    if (clean === UNCHANGED) continue
    changed = true
    if (clean !== CHANGED) record[key] = clean
  }
  return changed
}

const UNCHANGED = Symbol('unchanged')
/** The value was changed in place. */
const CHANGED = Symbol('changed')

function scrubValue(value: unknown, key: string, kind: KeyClass, judge: KeyJudge, depth: number): unknown {
  if (kind === KEY_SENSITIVE) return filterWhole(value, key, depth)
  if (kind === KEY_ADDRESS) return null
  if (kind === KEY_FIXED && typeof value !== 'object') return UNCHANGED
  switch (typeof value) {
    case 'string':
      return scrubString(value, kind, judge, depth)
    case 'number':
      return value >= 1e13 && Number.isSafeInteger(value) && judge.rules.defaults !== false && isCard(String(value))
        ? FILTERED
        : UNCHANGED
    case 'object':
      if (value === null) return UNCHANGED
      if (depth >= MAX_DEPTH) return FILTERED
      if (isList(value)) return scrubList(value, kind, judge, depth + 1) ? CHANGED : UNCHANGED
      return isRecord(value) && scrubRecord(value, kind, judge, depth + 1) ? CHANGED : UNCHANGED
    default:
      return UNCHANGED
  }
}

function scrubString(text: string, kind: KeyClass, judge: KeyJudge, depth: number): unknown {
  if (text.length < 5) return UNCHANGED
  const first = text.charCodeAt(0)
  if ((first === 123 || first === 91) && depth < 8) {
    const nested = scrubJsonText(text, judge, depth)
    if (nested !== null) return nested === text ? UNCHANGED : nested
  }
  const clean = scrubText(text, kind, judge)
  return clean === text ? UNCHANGED : clean
}

/**
 * Text that is JSON itself (request bodies, logged objects) is scrubbed as what it is; null where it is not JSON, or too
 * deep to be walked. Where keys are repeated the text holds values nobody sees: what was seen takes its place.
 */
function scrubJsonText(text: string, judge: KeyJudge, depth: number): string | null {
  const last = text.charCodeAt(text.length - 1)
  if ((last !== 125 && last !== 93) || judge.jsonTextsLeft === 0) return null
  judge.jsonTextsLeft -= 1
  let parsed: GuardedJson
  try {
    parsed = parseGuarded(Buffer.from(text))
  } catch {
    return null
  }
  const { value, isExact } = parsed
  let changed = !isExact
  if (isList(value)) changed = scrubList(value, KEY_PLAIN, judge, depth + 8) || changed
  else if (isRecord(value)) changed = scrubRecord(value, KEY_PLAIN, judge, depth + 8) || changed
  return changed ? JSON.stringify(value) : text
}

function scrubList(list: unknown[], kind: KeyClass, judge: KeyJudge, depth: number): boolean {
  let changed = false
  for (let index = 0; index < list.length; index += 1) {
    const element = list[index]
    if (isRecord(element)) {
      if ('value' in element && scrubNamedValue(element, kind, judge, depth)) changed = true
    } else if (isList(element) && isPair(element)) {
      if (scrubPair(element, kind, judge, depth)) changed = true
      continue
    }
    const clean = scrubValue(element, '', kind, judge, depth)
    if (clean === UNCHANGED) continue
    changed = true
    if (clean !== CHANGED) list[index] = clean
  }
  return changed
}

type Pair = [name: string, value: unknown]

function isPair(list: unknown[]): list is Pair {
  return list.length === 2 && typeof list[0] === 'string'
}

/** A list of `['Authorization', 'Basic …']`: headers, cookies, query and tags as pairs. */
function scrubPair(pair: Pair, around: KeyClass, judge: KeyJudge, depth: number): boolean {
  const name = pair[0]
  let kind = judge.classOf(name)
  if (kind === KEY_EXEMPT || (kind === KEY_FIXED && typeof pair[1] !== 'object')) return false
  if (around === KEY_COOKIE) kind = judge.isSensitiveCookie(name) ? KEY_SENSITIVE : KEY_COOKIE
  const cleanName = scrubString(name, around, judge, depth)
  if (typeof cleanName === 'string') pair[0] = cleanName
  const clean = scrubValue(pair[1], name, kind === KEY_PLAIN ? around : kind, judge, depth)
  if (clean !== UNCHANGED && clean !== CHANGED) pair[1] = clean
  return cleanName !== UNCHANGED || clean !== UNCHANGED
}

/** `{key: 'password', value: '…'}` and `{name: …, value: …}`. */
function scrubNamedValue(record: Record<string, unknown>, around: KeyClass, judge: KeyJudge, depth: number): boolean {
  const name = record['key'] ?? record['name']
  const value = record['value']
  if (typeof name !== 'string' || value === null || typeof value === 'boolean') return false
  const secret = around === KEY_COOKIE ? judge.isSensitiveCookie(name) : judge.isSensitive(name)
  if (!secret) return false
  const clean = filterWhole(value, name, depth)
  if (clean === UNCHANGED) return false
  if (clean !== CHANGED) record['value'] = clean
  return true
}

/** Everything below a sensitive key goes; structure, booleans and empty text stay, they keep no secret. */
function filterWhole(value: unknown, key: string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return value === '' || value === FILTERED ? UNCHANGED : FILTERED
    case 'number':
      // `input_tokens: 812` counts words.
      return key.endsWith('tokens') ? UNCHANGED : FILTERED
    case 'object': {
      if (value === null) return UNCHANGED
      if (depth >= MAX_DEPTH) return FILTERED
      if (isList(value)) return filterList(value, key, depth + 1) ? CHANGED : UNCHANGED
      return isRecord(value) && filterRecord(value, key, depth + 1) ? CHANGED : UNCHANGED
    }
    default:
      return UNCHANGED
  }
}

function filterList(list: unknown[], key: string, depth: number): boolean {
  let changed = false
  for (let index = 0; index < list.length; index += 1) {
    const clean = filterWhole(list[index], key, depth)
    if (clean === UNCHANGED) continue
    changed = true
    if (clean !== CHANGED) list[index] = clean
  }
  return changed
}

/** Of an attribute (`{value, type, unit?}`) only the value is a secret. */
function filterRecord(record: Record<string, unknown>, key: string, depth: number): boolean {
  const isAttribute = 'value' in record && typeof record['type'] === 'string'
  let changed = false
  for (const name in record) {
    if (isAttribute && name !== 'value') continue
    const clean = filterWhole(record[name], key, depth)
    if (clean === UNCHANGED) continue
    changed = true
    if (clean !== CHANGED) record[name] = clean
  }
  return changed
}
