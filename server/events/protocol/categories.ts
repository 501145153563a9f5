/** Categories of items in limits, outcomes and client reports (docs/protocol.md §5.2). */
export const CATEGORIES = [
  'default',
  'error',
  'transaction',
  'span',
  'session',
  'attachment',
  'monitor',
  'feedback',
  'log_item',
  'trace_metric',
  'replay',
  'profile',
  'profile_chunk',
  'security',
  'metric_bucket',
  'internal',
] as const
export type Category = (typeof CATEGORIES)[number]

const BY_TYPE = new Map<string, Category>([
  ['event', 'error'],
  ['form_data', 'error'],
  ['unreal_report', 'error'],
  ['transaction', 'transaction'],
  ['span', 'span'],
  ['otel_span', 'span'],
  // Created by the OTLP endpoint.
  ['otlp_traces', 'span'],
  ['session', 'session'],
  ['sessions', 'session'],
  ['attachment', 'attachment'],
  ['check_in', 'monitor'],
  ['feedback', 'feedback'],
  ['user_report', 'feedback'],
  ['user_report_v2', 'feedback'],
  ['log', 'log_item'],
  ['nel', 'log_item'],
  ['otlp_logs', 'log_item'],
  ['trace_metric', 'trace_metric'],
  ['replay_event', 'replay'],
  ['replay_recording', 'replay'],
  ['replay_video', 'replay'],
  ['profile', 'profile'],
  ['profile_chunk', 'profile_chunk'],
  ['raw_security', 'security'],
  ['statsd', 'metric_bucket'],
  ['metric_buckets', 'metric_bucket'],
  ['metric_meta', 'metric_bucket'],
  ['client_report', 'internal'],
])

/** The category of an item type; `default` for unknown types. */
export const itemCategory = (itemType: string): Category => BY_TYPE.get(itemType) ?? 'default'
