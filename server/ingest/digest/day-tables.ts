import type { DayTable } from '../../platform/storage/day-partitions.ts'

/**
 * Tables of digestion that are partitioned by the day of receipt (`received_day`). Partitions are created before the
 * first row of their day.
 */
export const RECEIVED_DAY_TABLES: readonly DayTable[] = [
  {
    table: 'events',
    // Bodies of up to 8 kB stay in the row.
    storage: 'toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.5',
    // A sample holds rows with their bodies: 130 MB of memory with the usual 30,000.
    statistics: 25,
  },
  { table: 'event_blocks' },
  { table: 'logs', storage: 'autovacuum_vacuum_insert_scale_factor = 0.5' },
  { table: 'trace_metrics', storage: 'autovacuum_vacuum_insert_scale_factor = 0.5' },
  { table: 'attachments' },
  { table: 'performance_seen' },
  { table: 'trace_parts' },
  { table: 'trace_errors' },
]
