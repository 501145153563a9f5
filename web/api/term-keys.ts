import { termText } from '#shared/query-terms.ts'

/** Keys to which the query language gives a meaning of its own, and their other names: a term with one asks for no tag. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  'environment',
  'env',
  'release',
  'level',
  'severity',
  'platform',
  'assigned',
  'assignee',
  'assignee_id',
  'owner',
  'is',
  'status',
  'issue',
  'project',
  'unhandled',
  'handled',
  'user',
  'has',
  'title',
  'message',
  'culprit',
  'location',
  'first_seen',
  'firstseen',
  'last_seen',
  'lastseen',
  'age',
  'events',
  'event_count',
  'times_seen',
  'timesseen',
  'users',
  'user_count',
  'usercount',
])

export const isOwnKey = (key: string): boolean => OWN_KEYS.has(key.toLowerCase())

/** The term of a value that events share: of a tag, or of their release or environment. */
export const sharedTerm = (key: string, value: string): string =>
  termText(isOwnKey(key) && key !== 'release' && key !== 'environment' ? `tag.${key}` : key, [value])
