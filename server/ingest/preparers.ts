import type { Preparer } from './item.ts'
import { prepareEventItem } from './prepare-event.ts'

/** What is done with each item type. Types that are in neither table are unknown, which is no error. */
export const PREPARERS: ReadonlyMap<string, Preparer> = new Map<string, Preparer>([['event', prepareEventItem]])

/** Types the product knows of and does not store: too old, or not built yet (ingest.md §9). */
export const UNSUPPORTED: ReadonlySet<string> = new Set([
  'transaction',
  'span',
  'otel_span',
  'session',
  'sessions',
  'attachment',
  'check_in',
  'feedback',
  'user_report',
  'user_report_v2',
  'log',
  'nel',
  'trace_metric',
  'replay_event',
  'replay_recording',
  'replay_video',
  'profile',
  'profile_chunk',
  'raw_security',
  'form_data',
  'unreal_report',
  'statsd',
  'metric_buckets',
  'metric_meta',
  'client_report',
])
