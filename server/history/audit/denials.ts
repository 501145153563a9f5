import { setImmediate } from 'node:timers/promises'
import type { Actor, Caller } from '../../platform/context/actor.ts'
import { type App, perApp } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { addEntries } from './add-entries.ts'
import { selectEmails, selectUserOrgs } from './append.queries.ts'
import { entryText, entryTime, metaText, type NewEntry } from './entry.ts'
import { actorFields, requestFields } from './record-audit.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/**
 * Refused requests. Each is counted in memory, and all of one actor, or of one account and address, within a minute are
 * one entry: neither a password-guessing attack nor a broken script can fill the log or slow the database. A killed process
 * loses the counts of its last minute.
 */
export const DENIALS = ['signin.failed', 'signin.locked', 'mfa.failed', 'access.denied', 'ratelimit.exceeded'] as const

/** Wrong credentials, of which the account is the target; the others are refusals. */
const FAILURES: ReadonlySet<Action> = new Set(['signin.failed', 'mfa.failed'])

type Action = (typeof DENIALS)[number]

type Who = Pick<
  NewEntry,
  'actor_type' | 'actor_id' | 'actor_email' | 'actor_role' | 'ip' | 'user_agent' | 'request_id' | 'session_id'
>

/** Who was refused: an actor, or someone who claims an account and whose organisations are looked up later. */
export type Refused =
  | { readonly actor: Exclude<Actor, { kind: 'system' }> }
  | { readonly userId: string; readonly caller: Caller }

/** A detail that an entry of a minute lists, at most {@link MAX_DETAILS} different ones: routes, or limits. */
type Detail = { readonly name: 'routes' | 'limits'; readonly value: string } | null

type Counted = {
  /** Requests with the same key are counted together. */
  readonly key: string
  /** Organisations to which it could not be written; null means those of the actor or account. */
  readonly orgIds: readonly string[] | null
  readonly action: Action
  readonly refused: Refused
  firstAt: Date
  lastAt: Date
  count: number
  readonly details: Set<string>
  readonly detailName: string | null
  /** The part that differs: requests beyond the share of an organisation or account are counted together. */
  readonly shared: 'actors' | 'addresses' | null
}

/** How often the end of the minute is looked for. */
const CHECK_MS = 5_000
const MAX_DETAILS = 10
/** Entries of one organisation per minute and process; further requests share entries. */
export const SHARE = 50
/** Addresses of one account with entries of their own. */
export const ACCOUNT_SHARE = 20
/** Maximum number of entries of all; above it, only shared entries are added. */
const MAX_COUNTED = 10_000

type State = {
  /** When the minute began: with the first request that it counts. */
  startedAtMs: number
  readonly counted: Map<string, Counted>
  /** Entries by organisation or account. */
  readonly shares: Map<string, number>
  timer: NodeJS.Timeout | null
}

const states = perApp((): State => ({ startedAtMs: 0, counted: new Map(), shares: new Map(), timer: null }))

/** Counts a refused request. Returns immediately and never fails: the response does not wait for it. */
export function countDenial(app: App, action: Action, refused: Refused, detail: Detail = null): void {
  const state = states(app)
  if (state.counted.size === 0) state.startedAtMs = app.clock.monotonicMs()
  const owner = 'actor' in refused ? refused.actor.orgId : refused.userId
  const { origin } = 'actor' in refused ? refused.actor : refused.caller
  const address = origin.kind === 'request' ? origin.ip : ''
  const who = 'actor' in refused ? idOf(refused.actor) : address
  const key = JSON.stringify([owner, action, who])
  const known = state.counted.get(key)
  if (known !== undefined) return add(app, known, detail)
  const share = state.shares.get(owner) ?? 0
  const isOverflow = share >= ('actor' in refused ? SHARE : ACCOUNT_SHARE) || state.counted.size >= MAX_COUNTED
  const place = isOverflow ? JSON.stringify([owner, action]) : key
  const now = app.clock.now()
  const counted = state.counted.get(place) ?? {
    key: place,
    orgIds: null,
    action,
    refused,
    firstAt: now,
    lastAt: now,
    count: 0,
    details: new Set<string>(),
    detailName: detail?.name ?? null,
    shared: !isOverflow ? null : 'actor' in refused ? 'actors' : 'addresses',
  }
  if (!isOverflow) state.shares.set(owner, share + 1)
  state.counted.set(place, counted)
  add(app, counted, detail)
  watch(app, state)
}

function watch(app: App, state: State): void {
  state.timer ??= setInterval(() => void flushEnded(app), CHECK_MS).unref()
}

function add(app: App, counted: Counted, detail: Detail): void {
  counted.count++
  counted.lastAt = app.clock.now()
  if (detail !== null && counted.details.size < MAX_DETAILS) counted.details.add(detail.value)
}

const idOf = (actor: Exclude<Actor, { kind: 'system' }>): string => {
  switch (actor.kind) {
    case 'user':
    case 'assistant':
    case 'chat':
      return actor.userId
    case 'api_key':
      return actor.keyId
    case 'integration':
      return actor.integrationId
  }
}

/** Writes the entries of the minute if it has ended. */
export async function flushEnded(app: App): Promise<void> {
  if (app.clock.monotonicMs() - states(app).startedAtMs >= MINUTE_MS) await flushDenials(app)
}

/** Writes the entries of the minute, also before its end: when the process stops. */
export async function flushDenials(app: App): Promise<void> {
  const state = states(app)
  if (state.timer !== null) clearInterval(state.timer)
  state.timer = null
  const due = [...state.counted.values()]
  if (due.length === 0) return
  state.counted.clear()
  state.shares.clear()
  const failed = await writeDenials(app, due)
  if (failed.length === 0) return
  if (state.counted.size === 0) state.startedAtMs = app.clock.monotonicMs()
  for (const one of failed) keep(state, one)
  watch(app, state)
}

/** Adds counts that could not be written to those of this minute. */
function keep({ counted }: State, before: Counted): void {
  const { key, orgIds } = before
  const place = orgIds === null || !('userId' in before.refused) ? key : JSON.stringify([key, orgIds])
  const now = counted.get(place)
  if (now !== undefined) merge(before, now)
  if (now !== undefined || counted.size < MAX_COUNTED) counted.set(place, before)
}

function merge(into: Counted, other: Counted): void {
  into.count += other.count
  if (other.firstAt < into.firstAt) into.firstAt = other.firstAt
  if (other.lastAt > into.lastAt) into.lastAt = other.lastAt
  for (const value of other.details) if (into.details.size < MAX_DETAILS) into.details.add(value)
}

/** Each transaction locks the chains of its organisations, and what they do waits for it. */
export const MAX_ORGS_PER_TX = 50
const MAX_ENTRIES_PER_TX = 500

/** @returns what could not be written, by organisation */
async function writeDenials(app: App, due: readonly Counted[]): Promise<readonly Counted[]> {
  const ofOrgs = new Map<string, Counted[]>()
  const emails = new Map<string, string>()
  try {
    const userIds = [...new Set(due.flatMap(({ refused }) => userOf(refused) ?? []))]
    for (const { id, email } of await selectEmails(app.db, userIds)) emails.set(`user:${id}`, email)
    const memberships = Map.groupBy(await selectUserOrgs(app.db, userIds), (row) => row.user_id)
    for (const one of due)
      for (const orgId of orgsOf(one, memberships)) ofOrgs.set(orgId, [...(ofOrgs.get(orgId) ?? []), one])
  } catch (error) {
    app.log.warn({ err: error }, NOT_WRITTEN)
    return due
  }
  const now = app.clock.now()
  const failed: Counted[] = []
  for (const part of partsOf(ofOrgs)) {
    const entries = part.flatMap(({ orgId, shown }) => shown.map((one) => entryOf(one, orgId, emails, now)))
    try {
      await app.tx((tx) => {
        addEntries(tx, app.auditKey, entries)
        return Promise.resolve()
      })
    } catch (error) {
      app.log.warn({ err: error, organisations: part.length }, NOT_WRITTEN)
      for (const { orgId, all } of part)
        failed.push(...all.map((one) => ({ ...one, details: new Set(one.details), orgIds: [orgId] })))
    }
    await setImmediate()
  }
  return failed
}

const NOT_WRITTEN = 'refused requests could not be written to the audit log; the next entries include them'

function orgsOf(
  { refused, orgIds }: Counted,
  memberships: ReadonlyMap<string, readonly { org_id: string }[]>,
): readonly string[] {
  if (orgIds !== null) return orgIds
  return 'actor' in refused ? [refused.actor.orgId] : (memberships.get(refused.userId) ?? []).map((row) => row.org_id)
}

type OfOrg = { readonly orgId: string; readonly all: readonly Counted[]; readonly shown: readonly Counted[] }

/** The organisations of each transaction. */
function partsOf(ofOrgs: ReadonlyMap<string, readonly Counted[]>): OfOrg[][] {
  const parts: OfOrg[][] = []
  let part: OfOrg[] = []
  let entries = 0
  for (const [orgId, all] of ofOrgs) {
    const shown = withinShare(together(all))
    if (part.length === MAX_ORGS_PER_TX || (part.length > 0 && entries + shown.length > MAX_ENTRIES_PER_TX)) {
      parts.push(part)
      part = []
      entries = 0
    }
    part.push({ orgId, all, shown })
    entries += shown.length
  }
  return part.length === 0 ? parts : [...parts, part]
}

/** Counts that an earlier flush could not write become one entry with the later ones. */
function together(ones: readonly Counted[]): Counted[] {
  const byKey = new Map<string, Counted>()
  for (const one of ones) {
    const known = byKey.get(one.key)
    if (known === undefined) byKey.set(one.key, { ...one, details: new Set(one.details) })
    else merge(known, one)
  }
  return [...byKey.values()]
}

/** The entries with the highest counts; the others, which an attack on many accounts makes, together. */
function withinShare(ones: readonly Counted[]): Counted[] {
  if (ones.length <= SHARE) return [...ones]
  const byCount = ones.toSorted((a, b) => b.count - a.count)
  const rest = new Map<Action, Counted>()
  for (const one of byCount.slice(SHARE)) {
    const known = rest.get(one.action)
    if (known === undefined) rest.set(one.action, { ...one, details: new Set(one.details), shared: 'actors' })
    else merge(known, one)
  }
  return [...byCount.slice(0, SHARE), ...rest.values()]
}

const userOf = (refused: Refused): string | null => {
  if ('userId' in refused) return refused.userId
  return 'userId' in refused.actor ? refused.actor.userId : null
}

function entryOf(counted: Counted, orgId: string, emails: ReadonlyMap<string, string>, now: Date): NewEntry {
  const { action, shared, detailName, details } = counted
  const list = [...details]
  return {
    id: newId(),
    org_id: orgId,
    created_at: entryTime(now),
    action,
    event_type: null,
    ...whoFields(counted, emails),
    ...targetFields(counted, emails, list),
    project_id: null,
    outcome: FAILURES.has(action) ? 'failed' : 'denied',
    meta: metaText({
      count: counted.count,
      first_at: counted.firstAt.toISOString(),
      last_at: counted.lastAt.toISOString(),
      ...(detailName === null ? {} : { [detailName]: list }),
      ...(shared === null ? {} : { shared }),
    }),
  }
}

const NOWHERE = { ip: null, user_agent: null, request_id: null, session_id: null }
const NO_ONE = { actor_type: 'user', actor_id: null, actor_email: null, actor_role: null } as const
const NOTHING = { target_type: null, target_id: null, target_label: null }

type Emails = ReadonlyMap<string, string>

/** The sender of the first request of the minute, as far as the others have it in common. */
function whoFields({ refused, shared }: Counted, emails: Emails): Who {
  if (shared === 'actors') return { ...NO_ONE, ...NOWHERE }
  if ('actor' in refused) return { ...actorFields(refused.actor, emails), ...requestFields(refused.actor, undefined) }
  const { origin, requestId } = refused.caller
  // Someone who only claims to have the account is not its user.
  return {
    ...NO_ONE,
    ...(shared === 'addresses'
      ? NOWHERE
      : { ip: origin.ip, user_agent: entryText(origin.userAgent), request_id: requestId, session_id: null }),
  }
}

/** The account that someone claimed to have; the route or limit, when it was only one. */
function targetFields(
  { action, refused, shared, detailName }: Counted,
  emails: Emails,
  [only, ...others]: readonly string[],
): Pick<NewEntry, 'target_type' | 'target_id' | 'target_label'> {
  if (shared === 'actors') return NOTHING
  const userId = 'actor' in refused && !FAILURES.has(action) ? null : userOf(refused)
  if (userId !== null)
    return { target_type: 'user', target_id: userId, target_label: emails.get(`user:${userId}`) ?? null }
  if (only === undefined || others.length > 0) return NOTHING
  return { target_type: detailName === 'routes' ? 'route' : 'limit', target_id: null, target_label: entryText(only) }
}
