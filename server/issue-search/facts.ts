import type { Event } from '../protocol/event.api.ts'
import type { JsonValue } from '../kernel/json.api.ts'

/** A fact of an event that issues are found by: key and value. */
export type Fact = readonly [key: string, value: string]

/** Keys of our own; a tag of the same name is found as `tag.<name>`. Users are found by issue_users. */
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

export const isOwnKey = (key: string): boolean => OWN_KEYS.some((own) => own === key)

/** Words with a meaning of their own in queries, too. */
const TAKEN: ReadonlySet<string> = new Set<string>([
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
])

/** Name of a tag in queries and in the index. */
export function tagKey(key: string): string {
  const name = key.toLowerCase()
  return TAKEN.has(name) ? `tag.${name}` : name
}

/** `tag.size` asks for the tag `size` as `size` does, and is the way to tags whose name is taken. */
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

/** A release whole, and without its package, as people name it: `com.acme@1.2.3+45` is found by `1.2.*`, too. */
export function releaseFacts(release: string): Fact[] {
  const bare = release.slice(release.lastIndexOf('@') + 1)
  return bare === release || bare === ''
    ? [['release', release]]
    : [
        ['release', release],
        ['release', bare],
      ]
}

/** Everything an event says of itself that issues are found by, beside its words; scrubbed as the event is. */
export function factsOf(event: Event): Fact[] {
  const facts: Fact[] = [['environment', event.environment]]
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
