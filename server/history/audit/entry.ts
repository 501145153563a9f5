import { createHash } from 'node:crypto'
import type { ACTOR_TYPES, OUTCOMES } from './audit.api.ts'
import { canonicalJson } from './canonical-json.ts'

/** An entry of the audit log (pure): its fields, its canonical JSON and its hash. */

/** An entry as a change describes it, before it has a place in its chain. Columns of `audit_log`. */
export type NewEntry = {
  readonly id: string
  readonly org_id: string
  /** UTC with microseconds: see {@link entryTime}. */
  readonly created_at: string
  readonly action: string
  readonly event_type: string | null
  readonly actor_type: (typeof ACTOR_TYPES)[number]
  readonly actor_id: string | null
  readonly actor_email: string | null
  readonly actor_role: string | null
  readonly target_type: string | null
  readonly target_id: string | null
  readonly target_label: string | null
  readonly project_id: string | null
  readonly ip: string | null
  readonly user_agent: string | null
  readonly request_id: string | null
  readonly session_id: string | null
  readonly outcome: (typeof OUTCOMES)[number]
  /** Canonical JSON. */
  readonly meta: string
}

export type Entry = NewEntry & { readonly seq: number; readonly prev_hash: Buffer }
/** With its hash, and the HMAC of it that only the service can make. */
export type ChainedEntry = Entry & { readonly hash: Buffer; readonly mac: Buffer }

/** The hash before the first entry of a chain. */
export const NO_HASH: Buffer = Buffer.alloc(32)

/** The clock counts milliseconds; the database and the API show microseconds. */
export const entryTime = (at: Date): string => at.toISOString().replace('Z', '000Z')

/** The entry as the API shows it without `hash`, in canonical JSON: what is hashed and exported. */
export function canonicalEntry(entry: Entry): string {
  const quote = (value: string | null): string => JSON.stringify(value)
  return (
    `{"action":${quote(entry.action)},` +
    `"actor":{"email":${quote(entry.actor_email)},"id":${quote(entry.actor_id)},` +
    `"role":${quote(entry.actor_role)},"type":${quote(entry.actor_type)}},` +
    `"created_at":${quote(entry.created_at)},"event_type":${quote(entry.event_type)},"id":${quote(entry.id)},` +
    `"ip":${quote(entry.ip)},"meta":${entry.meta},"org_id":${quote(entry.org_id)},"outcome":${quote(entry.outcome)},` +
    `"prev_hash":"${entry.prev_hash.toString('hex')}","project_id":${quote(entry.project_id)},` +
    `"request_id":${quote(entry.request_id)},"seq":${entry.seq},"session_id":${quote(entry.session_id)},` +
    `"target":{"id":${quote(entry.target_id)},"label":${quote(entry.target_label)},` +
    `"type":${quote(entry.target_type)}},"user_agent":${quote(entry.user_agent)}}`
  )
}

/** SHA-256 of the hash before and the canonical JSON. */
export const hashEntry = (entry: Entry): Buffer =>
  createHash('sha256').update(entry.prev_hash).update(canonicalEntry(entry)).digest()

const MAX_TEXT = 1_000

/** A text as PostgreSQL returns it unchanged, and not longer than a line of a list needs. */
export function entryText(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null
  return text.slice(0, MAX_TEXT).replaceAll('\0', '\uFFFD').toWellFormed()
}

export const MAX_META_BYTES = 4_096
const CUT_TEXT = 200
const CUT_LIST = 20
const CUT_FIELDS = 20

/**
 * Canonical JSON of at most 4 KiB. From larger values the ends of long texts and lists are cut, then all lists and
 * objects, and `"truncated": true` is added.
 * @param verbatim field whose text is cut last, and only as far as it must be
 */
export function metaText(meta: Readonly<Record<string, unknown>>, verbatim?: string): string {
  const safe = withoutQueries(meta)
  for (const form of [safe, { ...cut(safe), truncated: true }, { ...cut(onlyValues(safe)), truncated: true }]) {
    const text = canonicalJson(form).toWellFormed()
    if (Buffer.byteLength(text) <= MAX_META_BYTES) return form === safe ? text : (withVerbatim(safe, verbatim) ?? text)
  }
  return '{"truncated":true}'
}

/** The cut fields with as much of the verbatim text as fits; null when there is none. */
function withVerbatim(meta: Readonly<Record<string, unknown>>, verbatim: string | undefined): string | null {
  const whole = verbatim === undefined ? undefined : meta[verbatim]
  if (verbatim === undefined || typeof whole !== 'string') return null
  const rest = { ...cut(onlyValues(meta)), truncated: true }
  const formWith = (length: number): string =>
    canonicalJson({
      ...rest,
      [verbatim]: `${whole.slice(0, length).toWellFormed()}${length < whole.length ? '…' : ''}`,
    })
  let [fits, tooLong] = [0, whole.length + 1]
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (Buffer.byteLength(formWith(middle)) <= MAX_META_BYTES) fits = middle
    else tooLong = middle
  }
  return formWith(fits)
}

/** An address without what may be a secret: credentials, values of the query, fragment. Other texts unchanged. */
export function withoutQuery(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text
  const { origin, pathname, searchParams } = new URL(text)
  const query = [...searchParams.keys()].map((name) => `${encodeURIComponent(name)}=…`).join('&')
  return `${origin}${pathname}${query === '' ? '' : `?${query}`}`
}

const withoutQueries = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? withoutQuery(value) : value]),
  )

const cut = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields)
      .slice(0, CUT_FIELDS)
      .map(([key, value]) => [key.slice(0, CUT_TEXT), cutValue(value)]),
  )

function cutValue(value: unknown): unknown {
  if (typeof value === 'string') return value.length > CUT_TEXT ? `${value.slice(0, CUT_TEXT)}…` : value
  if (Array.isArray(value)) return value.slice(0, CUT_LIST).map(cutValue)
  if (typeof value === 'object' && value !== null) return cut({ ...value })
  return value
}

const onlyValues = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value !== 'object'))
