import type { ColumnType } from 'kysely'

/** Row types of migrations/0008_performance.sql, a part of {@link Tables} (tables.ts). */

type Time = ColumnType<Date, Date, Date>

export type PerformanceTables = {
  performance_series: {
    project_id: string
    id: string
    grain: number
    name: string
    op: string
    release: string
    environment: string
    os: string
    device_class: string
    last_day: string
  }
  performance_days: { project_id: string; day: string; names: number; series: number }
  performance_deltas: {
    project_id: string
    series_id: string
    metric: number
    minute: Time
    count: number
    failures: number
    left_out: number
    sketch: Buffer
  }
  performance_rollups: {
    project_id: string
    grain: number
    metric: number
    bucket: Time
    step: number
    series_id: string
    count: number
    failures: number
    left_out: number
    sketch: Buffer
  }
  performance_seen: {
    received_day: string
    key: number
    series_id: ColumnType<string | null, string | null | undefined, string | null>
  }
  performance_pending: {
    segment_key: number
    project_id: string
    received_at: Time
    occurred_at: Time
    metric: number
    value: number
    is_out: boolean
    name: string
    op: string
    release: string
    environment: string
    os: string
    device_class: string
  }
}
