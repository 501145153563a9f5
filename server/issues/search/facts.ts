import type { Event } from '../../events/protocol/event.api.ts'
import type { JsonValue } from '../../platform/kernel/json.api.ts'

/** A searchable fact of an event: key and value. */
export type Fact = readonly [key: string, value: string]

/** Built-in keys; a tag of the same name is `tag.<name>`. User ids are searched in issue_users. */
const OWN_KEYS = [
  'release',
  'environment',
  'dist',
  'type',
  'transaction',
  'logger',
  'sdk.name',
  'url',
  'user.id',
  'user.email',
  'user.username',
  'user.ip',
  'os.name',
  'os.version',
  'device.model',
  'device.family',
  'device.brand',
  'browser.name',
  'browser.version',
  'runtime.name',
  'runtime.version',
  'app.version',
] as const
type OwnKey = (typeof OWN_KEYS)[number]

/** Keys whose values identify a user. They are searched through the user (write-index-terms.ts), not in documents. */
export const USER_KEYS = ['user.email', 'user.username', 'user.ip'] as const
export type UserKey = (typeof USER_KEYS)[number]

export const isUserKey = (key: string): key is UserKey =>
  key === 'user.email' || key === 'user.username' || key === 'user.ip'

export const isOwnKey = (key: string): boolean => OWN_KEYS.some((own) => own === key)

/** All keys with a built-in meaning in queries. */
const RESERVED: ReadonlySet<string> = new Set<string>([
  ...OWN_KEYS,
  'is',
  'status',
  'level',
  'severity',
  'assigned',
  'assignee',
  'assignee_id',
  'owner',
  'project',
  'platform',
  'first_seen',
  'last_seen',
  'firstseen',
  'lastseen',
  'age',
  'events',
  'users',
  'event_count',
  'user_count',
  'unhandled',
  'handled',
  'has',
  'first_release',
  'last_release',
  'firstrelease',
  'lastrelease',
  'user',
  'user.name',
  'error.type',
  'device.name',
  'issue',
  'issue.id',
  'short_id',
  'title',
  'message',
  'error.value',
  'culprit',
  'location',
  'env',
  'times_seen',
  'timesseen',
  'eventcount',
  'usercount',
  'browser',
  'os',
  'device',
  'runtime',
  'sdk',
  'http.url',
  'platform.name',
  'error.handled',
  'error.unhandled',
  'assigned_or_suggested',
  'issue.priority',
])

/** Returns the key of a tag in queries and in the index. */
export function tagKey(key: string): string {
  const name = key.toLowerCase()
  return RESERVED.has(name) ? `tag.${name}` : name
}

/** Returns the index key of a key in a query: `tag.size` is `size`; `tag.level` stays, because `level` is reserved. */
export function askedKey(key: string): string {
  return key.startsWith('tag.') ? tagKey(key.slice(4)) : key
}

const CONTEXTS: readonly (readonly [context: string, field: string, key: OwnKey])[] = [
  ['os', 'name', 'os.name'],
  ['os', 'version', 'os.version'],
  ['device', 'model', 'device.model'],
  ['device', 'family', 'device.family'],
  ['device', 'brand', 'device.brand'],
  ['browser', 'name', 'browser.name'],
  ['browser', 'version', 'browser.version'],
  ['runtime', 'name', 'runtime.name'],
  ['runtime', 'version', 'runtime.version'],
  ['app', 'app_version', 'app.version'],
]

/** Returns a release with and without its package, so that `1.2.*` finds `com.acme@1.2.3+45`. */
export function releaseFacts(release: string): Fact[] {
  const bare = release.slice(release.lastIndexOf('@') + 1)
  return bare === release || bare === ''
    ? [['release', release]]
    : [
        ['release', release],
        ['release', bare],
      ]
}

/** Returns the searchable facts of a scrubbed event, without the words of its texts. */
export function listEventFacts(event: Event): Fact[] {
  const facts: Fact[] = event.environment === '' ? [] : [['environment', event.environment]]
  const add = (key: OwnKey, value: JsonValue | undefined): void => {
    if (typeof value === 'string' && value !== '') facts.push([key, value])
    else if (typeof value === 'number') facts.push([key, String(value)])
  }
  if (event.release !== null && event.release !== '') facts.push(...releaseFacts(event.release))
  add('dist', event.dist)
  add('transaction', event.transaction)
  add('logger', event.logger)
  add('sdk.name', event.sdk?.name ?? null)
  add('url', event.request?.url ?? null)
  for (const { type } of event.exceptions) add('type', type)
  if (event.user !== null) {
    add('user.email', event.user.email)
    add('user.username', event.user.username)
    add('user.ip', event.user.ip_address)
  }
  for (const [context, field, key] of CONTEXTS) add(key, event.contexts[context]?.[field])
  for (const { key, value } of event.tags) facts.push([tagKey(key), value])
  return facts
}

/** The first texts of an event; those of its frames follow. */
export const OWN_TEXTS = 6
export const TEXTS_PER_FRAME = 3
const MAX_FRAMES = 30
const MAX_CHARACTERS = 1_000

/**
 * Returns the texts of an event whose words are indexed: title, value, culprit, message, transaction and names of its stack.
 * @param title the title that a grouping rule sets, or null
 */
export function listIndexedTexts(event: Event, title: string | null = null): (string | null)[] {
  const frames = event.exceptions.flatMap((exception) => exception.stacktrace?.frames ?? [])
  const relevant = frames.filter((frame) => frame.in_app).slice(-MAX_FRAMES)
  return [
    title,
    event.title,
    event.culprit,
    event.error_value?.slice(0, MAX_CHARACTERS) ?? null,
    event.message?.slice(0, MAX_CHARACTERS) ?? null,
    event.transaction,
    ...relevant.flatMap((frame) => [frame.function, frame.module, frame.filename]),
  ]
}

/** Facts and texts of an issue's newest events, which need not be looked up. An event may have 100 kB of them. */
export type Repeated = {
  readonly facts: readonly Fact[]
  /** Texts of the newest event. */
  readonly texts: readonly (string | null)[]
  /** Stack of the newest event whose stack was read. */
  readonly stack: readonly (string | null)[]
}

/** Bytes of a string object and of its place in an array. */
const OVERHEAD_BYTES = 24

/** About as many bytes as facts and texts take. */
export function bytesOfValues(facts: readonly Fact[], texts: readonly (string | null)[]): number {
  let bytes = 0
  for (const [key, value] of facts) bytes += 2 * OVERHEAD_BYTES + key.length + value.length
  for (const text of texts) bytes += OVERHEAD_BYTES + (text?.length ?? 0)
  return bytes
}

/** About as many bytes as it takes. */
export const bytesOfRepeated = ({ facts, texts, stack }: Repeated): number =>
  bytesOfValues(facts, texts) + (stack === texts ? 0 : bytesOfValues([], stack))
