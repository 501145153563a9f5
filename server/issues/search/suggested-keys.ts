import { SEVERITIES, ISSUE_STATUSES } from '#shared/issue-values.ts'
import { EVENT_LEVELS } from '../../events/protocol/event.api.ts'

/** Suggestions for keys with a built-in meaning: their labels, and their values where the values are known. */

type SuggestedKey = {
  readonly label: string
  /** All values, or examples. Other values come from the data. */
  readonly values?: readonly string[]
}

const FLAGS = ['true', 'false']
const TIMES = ['-1h', '-24h', '-7d', '-30d', '+7d']

/** In the order in which they are suggested. */
export const SUGGESTED_KEYS: Readonly<Record<string, SuggestedKey>> = {
  is: { label: 'Status', values: [...ISSUE_STATUSES, 'assigned', 'unassigned', 'unhandled', 'handled'] },
  level: { label: 'Level of the newest event', values: EVENT_LEVELS },
  environment: { label: 'Environment' },
  release: { label: 'Release' },
  assigned: { label: 'Assignee' },
  severity: { label: 'Severity', values: SEVERITIES },
  project: { label: 'Project' },
  platform: { label: 'Platform of the SDK' },
  type: { label: 'Type of the error' },
  unhandled: { label: 'Unhandled errors', values: FLAGS },
  first_seen: { label: 'First seen', values: TIMES },
  last_seen: { label: 'Last seen', values: TIMES },
  age: { label: 'Time since first seen', values: ['<1h', '<24h', '<7d', '>7d', '>30d'] },
  events: { label: 'Number of events', values: ['>10', '>100', '>1000', '>10000'] },
  users: { label: 'Number of affected users', values: ['>=1', '>10', '>100', '>1000'] },
  user: { label: 'Affected user: id, e-mail address, name or IP address' },
  'user.id': { label: 'Id of an affected user' },
  'user.email': { label: 'E-mail address of an affected user' },
  'user.username': { label: 'Name of an affected user' },
  'user.ip': { label: 'IP address of an affected user' },
  'os.name': { label: 'Operating system' },
  'os.version': { label: 'Version of the operating system' },
  'device.model': { label: 'Model of the device' },
  'device.family': { label: 'Family of the device' },
  'device.brand': { label: 'Brand of the device' },
  'browser.name': { label: 'Browser' },
  'browser.version': { label: 'Version of the browser' },
  'runtime.name': { label: 'Runtime' },
  'runtime.version': { label: 'Version of the runtime' },
  'app.version': { label: 'Version of the app' },
  'sdk.name': { label: 'SDK' },
  transaction: { label: 'Transaction' },
  url: { label: 'Address of the request' },
  logger: { label: 'Logger' },
  dist: { label: 'Distribution of the release' },
  first_release: { label: 'Release of the first event' },
  last_release: { label: 'Release of the newest event' },
  title: { label: 'Title' },
  message: { label: 'Title or message of the newest event' },
  culprit: { label: 'Where the newest event happened' },
  issue: { label: 'Short id, such as SHOP-42' },
  has: { label: 'Has any value of a key' },
}
