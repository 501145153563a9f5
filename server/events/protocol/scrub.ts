import { isList, isRecord } from './json.ts'
import { type GuardedJson, parseGuarded, writeJson } from './json-guard.ts'
import { leaveOutShown } from './leave-out.ts'
import { RuleBudget } from './rule-budget.ts'
import { isCard } from './scrub-numbers.ts'
import {
  scrubText,
  KEY_ADDRESS,
  KEY_COOKIE,
  KEY_EXEMPT,
  KEY_FIXED,
  KEY_PLAIN,
  KEY_SENSITIVE,
  type KeyClass,
  KeyClassifier,
  type ScrubRules,
} from './scrub-text.ts'
import { FILTERED } from './scrub-words.ts'

export type { ScrubRules } from './scrub-text.ts'

/** Deeper structures are replaced completely; the guard before parsing refuses them anyway. */
const MAX_DEPTH = 128

/**
 * Maximum texts of a payload that are parsed as JSON: a failing parse is expensive, and a payload can have 100,000
 * texts.
 */
const MAX_JSON_TEXTS = 500

const DEFAULT_RULES: ScrubRules = {}

/** Classifiers by rules object, and by content for callers that create equal rules repeatedly. */
const classifiers = new WeakMap<ScrubRules, KeyClassifier>()
const classifiersByContent = new Map<string, KeyClassifier>()
const MAX_CLASSIFIERS = 200

function classifierOf(rules: ScrubRules): KeyClassifier {
  const known = classifiers.get(rules)
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
  const classifier = classifiersByContent.get(content) ?? new KeyClassifier(rules)
  if (classifiersByContent.size >= MAX_CLASSIFIERS) classifiersByContent.clear()
  classifiersByContent.set(content, classifier)
  classifiers.set(rules, classifier)
  return classifier
}

/** The same rules for one payload, compiled once for all: its parts share a budget. */
export function withBudget(rules: ScrubRules, budget: RuleBudget): ScrubRules {
  const limited = { ...rules, budget }
  classifiers.set(limited, classifierOf(rules))
  return limited
}

/**
 * Removes secrets from a payload in place, before anything of it is stored (docs/protocol.md §16). Accepts raw events and
 * any other object from JSON (attributes of logs and spans). Never throws. Compiled rules are cached, so a rules object
 * must not change afterwards.
 * @param maxJsonTexts maximum texts that are parsed as JSON; lower for many small payloads
 * @returns whether anything changed
 */
export function scrubEvent(
  raw: Record<string, unknown>,
  rules: ScrubRules = DEFAULT_RULES,
  maxJsonTexts = MAX_JSON_TEXTS,
): boolean {
  const classifier = classifierOf(rules)
  classifier.jsonTextsLeft = maxJsonTexts
  // Rules first, so that the defaults also apply to their results.
  const byRules = classifier.project === null ? false : classifier.project.apply(raw, rules.budget ?? new RuleBudget())
  return scrubRecord(raw, KEY_PLAIN, classifier, 0) || byRules
}

/**
 * Parses what decides about an event: what {@link leaveOutShown} lets stay, all that normalising with `onlyDecisive` and
 * the signals of a device read.
 * @param rules one object per project: events of a project are often alike, so after several that had to be parsed whole
 *   it tries only some
 * @returns null when anything of the event is to be scrubbed, repeated or refused, or may be: it is parsed whole then
 */
export function parseDecisive(bytes: Buffer, start: number, end: number, rules: ScrubRules): GuardedJson | null {
  let history = histories.get(rules)
  if (history === undefined) histories.set(rules, (history = isDefault(rules) ? { misses: 0, skipsLeft: 0 } : null))
  if (history === null) return null
  if (history.skipsLeft > 0) {
    history.skipsLeft--
    return null
  }
  const rest = leaveOutShown(bytes, start, end)
  if (rest === null) return null
  const parsed = parseUnchanged(rest, rules)
  history.misses = parsed === null ? Math.min(history.misses + 1, MAX_MISSES) : 0
  history.skipsLeft = history.misses < 2 ? 0 : 2 ** history.misses
  return parsed
}

/** Null for rules with which the pass is not asked. */
const histories = new WeakMap<ScrubRules, { misses: number; skipsLeft: number } | null>()
const MAX_MISSES = 5

/** Null unless the body may be stored as it came. */
function parseUnchanged(bytes: Buffer, rules: ScrubRules): GuardedJson | null {
  try {
    const parsed = parseGuarded(bytes)
    return parsed.isExact && isRecord(parsed.value) && !scrubEvent(parsed.value, rules) ? parsed : null
  } catch {
    return null
  }
}

/** The pass knows the default names and forms only. */
const isDefault = ({ defaults, hashKey: _hashKey, budget: _budget, ...others }: ScrubRules): boolean =>
  defaults !== false &&
  Object.values(others).every((setting) => setting === undefined || setting === false || isEmptyList(setting))

const isEmptyList = (setting: unknown): boolean => isList(setting) && setting.length === 0

/** Address and user agent of a connection for storage, after the rules for them. */
export function scrubConnection(
  { clientIp, userAgent }: { readonly clientIp: string | null; readonly userAgent: string | null },
  rules: ScrubRules = DEFAULT_RULES,
): { clientIp: string | null; userAgent: string | null } {
  const kept = rules.removeAddresses === true ? null : clientIp
  const { project } = classifierOf(rules)
  if (project === null) return { clientIp: kept, userAgent }
  const stand = { user: { ip_address: kept }, request: { headers: { 'User-Agent': userAgent } } }
  project.apply(stand, rules.budget ?? new RuleBudget())
  return {
    clientIp: stand.user?.ip_address === kept ? kept : null,
    userAgent: stand.request?.headers?.['User-Agent'] === userAgent ? userAgent : null,
  }
}

/** @param around the class of the record's key: inside cookies every name is the name of a cookie */
function scrubRecord(
  record: Record<string, unknown>,
  around: KeyClass,
  classifier: KeyClassifier,
  depth: number,
): boolean {
  let changed = false
  for (const key in record) {
    const value = record[key]
    if (value === null || typeof value === 'boolean') continue
    let kind = classifier.classOf(key)
    if (kind === KEY_EXEMPT) continue
    // Debug images and the SDK are at the top level; a deeper object with such a name belongs to an app.
    if (kind === KEY_FIXED && (depth === 0 || typeof value !== 'object')) continue
    if (around === KEY_COOKIE) kind = classifier.isSensitiveCookie(key) ? KEY_SENSITIVE : KEY_COOKIE
    else if (kind === KEY_PLAIN && around !== KEY_FIXED) kind = around
    if (key === 'type' && kind !== KEY_SENSITIVE) continue
    const clean = scrubValue(value, key, kind, classifier, depth)
    if (clean === UNCHANGED) continue
    changed = true
    if (clean !== CHANGED) record[key] = clean
  }
  return changed
}

const UNCHANGED = Symbol('unchanged')
/** The value was changed in place. */
const CHANGED = Symbol('changed')

function scrubValue(value: unknown, key: string, kind: KeyClass, classifier: KeyClassifier, depth: number): unknown {
  if (kind === KEY_SENSITIVE) return filterWhole(value, key, depth)
  if (kind === KEY_ADDRESS) return null
  if (kind === KEY_FIXED && typeof value !== 'object') return UNCHANGED
  switch (typeof value) {
    case 'string':
      return scrubString(value, kind, classifier, depth)
    case 'number':
      return value >= 1e13 &&
        Number.isSafeInteger(value) &&
        classifier.rules.defaults !== false &&
        isCard(String(value))
        ? FILTERED
        : UNCHANGED
    case 'object':
      if (value === null) return UNCHANGED
      if (depth >= MAX_DEPTH) return FILTERED
      if (isList(value)) return scrubList(value, kind, classifier, depth + 1) ? CHANGED : UNCHANGED
      return isRecord(value) && scrubRecord(value, kind, classifier, depth + 1) ? CHANGED : UNCHANGED
    default:
      return UNCHANGED
  }
}

function scrubString(text: string, kind: KeyClass, classifier: KeyClassifier, depth: number): unknown {
  if (text.length < 5) return UNCHANGED
  const first = text.charCodeAt(0)
  if ((first === 123 || first === 91) && depth < 8) {
    const nested = scrubJsonText(text, classifier, depth)
    if (nested !== null) return nested === text ? UNCHANGED : nested
  }
  const clean = scrubText(text, kind, classifier)
  return clean === text ? UNCHANGED : clean
}

/**
 * Scrubs a text that is JSON (request bodies, logged objects). Returns null when it is no JSON or nested too deep. With
 * repeated keys the text has values that were not scrubbed, so the parsed value replaces it.
 */
function scrubJsonText(text: string, classifier: KeyClassifier, depth: number): string | null {
  const last = text.charCodeAt(text.length - 1)
  if ((last !== 125 && last !== 93) || classifier.jsonTextsLeft === 0) return null
  classifier.jsonTextsLeft -= 1
  let parsed: GuardedJson
  try {
    parsed = parseGuarded(Buffer.from(text))
  } catch {
    return null
  }
  const { value, isExact, longNumbers } = parsed
  let changed = !isExact
  if (isList(value)) changed = scrubList(value, KEY_PLAIN, classifier, depth + 8) || changed
  else if (isRecord(value)) changed = scrubRecord(value, KEY_PLAIN, classifier, depth + 8) || changed
  return changed ? writeJson(value, longNumbers) : text
}

function scrubList(list: unknown[], kind: KeyClass, classifier: KeyClassifier, depth: number): boolean {
  let changed = false
  for (let index = 0; index < list.length; index += 1) {
    const element = list[index]
    if (isRecord(element)) {
      if ('value' in element && scrubNamedValue(element, kind, classifier, depth)) changed = true
    } else if (isList(element) && isPair(element)) {
      if (scrubPair(element, kind, classifier, depth)) changed = true
      continue
    }
    const clean = scrubValue(element, '', kind, classifier, depth)
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

/** A list of pairs such as `['Authorization', 'Basic …']`: headers, cookies, query and tags. */
function scrubPair(pair: Pair, around: KeyClass, classifier: KeyClassifier, depth: number): boolean {
  const name = pair[0]
  let kind = classifier.classOf(name)
  if (kind === KEY_EXEMPT || (kind === KEY_FIXED && typeof pair[1] !== 'object')) return false
  if (around === KEY_COOKIE) kind = classifier.isSensitiveCookie(name) ? KEY_SENSITIVE : KEY_COOKIE
  const cleanName = scrubString(name, around, classifier, depth)
  if (typeof cleanName === 'string') pair[0] = cleanName
  const clean = scrubValue(pair[1], name, kind === KEY_PLAIN ? around : kind, classifier, depth)
  if (clean !== UNCHANGED && clean !== CHANGED) pair[1] = clean
  return cleanName !== UNCHANGED || clean !== UNCHANGED
}

/** `{key: 'password', value: '…'}` and `{name: …, value: …}`. */
function scrubNamedValue(
  record: Record<string, unknown>,
  around: KeyClass,
  classifier: KeyClassifier,
  depth: number,
): boolean {
  const name = record['key'] ?? record['name']
  const value = record['value']
  if (typeof name !== 'string' || value === null || typeof value === 'boolean') return false
  const secret = around === KEY_COOKIE ? classifier.isSensitiveCookie(name) : classifier.isSensitive(name)
  if (!secret) return false
  const clean = filterWhole(value, name, depth)
  if (clean === UNCHANGED) return false
  if (clean !== CHANGED) record['value'] = clean
  return true
}

/** Removes all values below a sensitive key; structure, booleans and empty text stay. */
function filterWhole(value: unknown, key: string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return value === '' || value === FILTERED ? UNCHANGED : FILTERED
    case 'number':
      // `input_tokens: 812` is a count.
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

/** In an attribute (`{value, type, unit?}`) only the value is a secret. */
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
