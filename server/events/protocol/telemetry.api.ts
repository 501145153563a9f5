/** Enums of telemetry, for readers of payloads and for the API. */

/** Levels of log entries (docs/protocol.md §11.1, §14), lowest first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const METRIC_TYPES = ['counter', 'gauge', 'distribution'] as const
export type MetricType = (typeof METRIC_TYPES)[number]

/** Statuses that a job may send (docs/protocol.md §11.3). */
export const SENT_STATUSES = ['in_progress', 'ok', 'error'] as const
export type SentStatus = (typeof SENT_STATUSES)[number]

/** Maximum length of a monitor's name and of its slug, in code points. SDKs send that many. */
export const MAX_SLUG = 128
