/**
 * The five views that statements of questions read, in the schema {@link SCHEMA}. The guard, the privileges of the role,
 * the documentation and the translator of questions follow from this list; a test compares it with the database.
 */

/** The schema of the views. Statements name views without it. */
export const SCHEMA = 'nlq'

/** The role under which statements run. It may read the views and nothing else. */
export const ROLE = 'nlq_ro'

export const COLUMN_TYPES = [
  'text',
  'uuid',
  'integer',
  'bigint',
  'double precision',
  'timestamp with time zone',
  'boolean',
] as const
export type ColumnType = (typeof COLUMN_TYPES)[number]

/** A column that statements may read. */
export type Column = { readonly name: string; readonly type: ColumnType; readonly about: string }

export const VIEW_NAMES = ['issues', 'events', 'app_sessions', 'performance', 'releases'] as const
export type ViewName = (typeof VIEW_NAMES)[number]

export type View = {
  readonly about: string
  /** Columns that every statement may read, in the order of `*`. */
  readonly columns: readonly Column[]
  /** The column that says when a row happened; a condition on it narrows what is read. */
  readonly time: string
}

const text = (name: string, about: string): Column => ({ name, type: 'text', about })
const time = (name: string, about: string): Column => ({ name, type: 'timestamp with time zone', about })
const uuid = (name: string, about: string): Column => ({ name, type: 'uuid', about })
const count = (name: string, about: string): Column => ({ name, type: 'bigint', about })
const number = (name: string, about: string): Column => ({ name, type: 'double precision', about })
const flag = (name: string, about: string): Column => ({ name, type: 'boolean', about })

/** The values of what an app ran on, alike in every view; null for unknown. */
const ORIGIN = [
  text('release', 'The release, such as `shop@4.12.0`.'),
  text('environment', 'The environment, such as `production`.'),
  text('os', 'The operating system without its version, such as `iOS` or `Android`.'),
  text('device', 'The model of the device, such as `iPhone15,2`.'),
]

export const VIEWS: Readonly<Record<ViewName, View>> = {
  issues: {
    about: 'Issues: one row for each, with its totals. Issues that were merged into others are not shown.',
    time: 'last_seen',
    columns: [
      uuid('id', 'The id of the issue.'),
      text('short_id', 'The name of the issue, such as `SHOP-42`.'),
      text('title', 'The title.'),
      text('culprit', 'The function or place that failed.'),
      text('error_type', 'The type of the exception, such as `TypeError`.'),
      text('error_value', 'The message of the exception.'),
      text('level', '`fatal`, `error`, `warning`, `info` or `debug`.'),
      text('platform', 'The platform, such as `javascript` or `cocoa`.'),
      text('status', '`unresolved`, `resolved`, `ignored`, `regressed` or `escalated`.'),
      text('severity', '`critical`, `high`, `medium` or `low`.'),
      text('assignee', 'The name of the member to whom the issue is assigned.'),
      time('first_seen', 'The time of the first event.'),
      time('last_seen', 'The time of the last event.'),
      count('event_count', 'The number of all events.'),
      count('user_count', 'The number of all users who met it.'),
      text('first_release', 'The release of the first event.'),
      text('last_release', 'The release of the last event.'),
      text('resolved_in_release', 'The release that resolves it.'),
      time('resolved_at', 'The time at which it was resolved.'),
      flag('is_unhandled', 'Whether an exception was not caught.'),
      time('created_at', 'The time at which the issue was made.'),
    ],
  },
  events: {
    about: 'Stored events of errors and messages: one row for each, within the retention of the project.',
    time: 'time',
    columns: [
      uuid('event_id', 'The id of the event.'),
      uuid('issue_id', 'The id of the issue that shows the event: `issues.id`.'),
      time('time', 'The time at which it occurred.'),
      time('received_at', 'The time at which it was received.'),
      text('level', '`fatal`, `error`, `warning`, `info` or `debug`.'),
      text('platform', 'The platform of its issue.'),
      ...ORIGIN,
      text('exception_type', 'The type of the exception.'),
      text(
        'user_key',
        'A pseudonym of the user: equal for the same user, and in `app_sessions` where apps send one id for both.',
      ),
    ],
  },
  app_sessions: {
    about:
      'Sessions of apps: one row for each. They are made of counts: which of the sessions of a minute or an hour had which duration, user or class is not known, only how many.',
    time: 'time',
    columns: [
      time('time', 'The time at which it began: to the minute for two days, then to the hour.'),
      ...ORIGIN,
      text('device_class', '`low`, `medium` or `high`.'),
      text('status', '`healthy`, `errored`, `unhandled`, `abnormal` or `crashed`.'),
      flag('is_anr', 'Whether the app did not respond and then ended.'),
      number('duration_ms', 'How long it took, in milliseconds, within 1 %; null while it is not over.'),
      text(
        'user_key',
        'A pseudonym of the user: equal for the same user. Null where more than 2,000 users met in one minute or hour.',
      ),
    ],
  },
  performance: {
    about:
      'Measurements of apps: one row for each. They are made of sketches: values are within 1 %, and which of them failed is not known, only how many.',
    time: 'time',
    columns: [
      time(
        'time',
        'The time of the measurement: to 15 minutes for two days, to the hour for two weeks, then to six hours.',
      ),
      text(
        'kind',
        '`transaction`, `cold_start`, `warm_start`, `screen_initial` (until something is shown), `screen_full` (until all is shown), `lcp`, `fcp`, `fp`, `ttfb`, `ttfb_request`, `inp`, `cls`, `frames_total`, `frames_slow`, `frames_frozen`, `frames_delay`, `stall_count`, `stall_total`, `stall_longest`, `stall_duration`, `anr`, `anr_wait`, `battery_drain`, `low_memory`, `thermal_serious`, `thermal_critical` or `wake_lock`.',
      ),
      text('name', 'The name of the transaction or screen.'),
      text('operation', 'The operation, such as `ui.load` or `http.server`.'),
      ...ORIGIN.filter(({ name }) => name !== 'device'),
      text('device_class', '`low`, `medium` or `high`.'),
      number('duration_ms', 'How long it took, in milliseconds; null for kinds that are no times.'),
      number('value', 'The value: milliseconds, a count of frames, or percent per hour for `battery_drain`.'),
      flag('is_failed', 'Whether the transaction failed.'),
    ],
  },
  releases: {
    about: 'Releases: one row for each.',
    time: 'released_at',
    columns: [
      uuid('id', 'The id of the release.'),
      text('version', 'The version; `release` in other views.'),
      text('state', '`planned`, `open` or `archived`.'),
      time('released_at', 'The date of the release: as announced, or when it was first seen.'),
      time('first_seen_at', 'The time at which anything was first received from it.'),
      time('last_seen_at', 'The time at which anything was last received from it.'),
      time('created_at', 'The time at which it was made known.'),
    ],
  },
}

/** Columns of the views that only the filters of the server read. */
export const FILTER_COLUMNS: Readonly<Record<ViewName, readonly string[]>> = {
  issues: ['project_id'],
  events: ['project_id', 'received_day'],
  app_sessions: ['project_id'],
  performance: ['project_id'],
  releases: ['project_id'],
}

export const isViewName = (name: string): name is ViewName => VIEW_NAMES.some((one) => one === name)
