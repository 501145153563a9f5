import type { ColumnType } from 'kysely'

/** Row types of migrations/0009_telemetry.sql, a part of {@link Tables} (tables.ts): written by server/telemetry only. */

type Time = ColumnType<Date, Date, Date>
type NullableTime = ColumnType<Date | null, Date | null | undefined, Date | null>
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>
type JsonText = ColumnType<unknown, string, string>
type NullableJsonText = ColumnType<unknown, string | null | undefined, string | null>

export type TelemetryTables = {
  logs: {
    received_day: string
    project_id: string
    id: string
    received_at: Time
    occurred_at: Time
    level: string
    severity_number: number
    body: string
    trace_id: Nullable<string>
    span_id: Nullable<string>
    release: Nullable<string>
    environment: string
    attributes: JsonText
    notes: NullableJsonText
  }
  trace_metrics: {
    received_day: string
    project_id: string
    id: string
    received_at: Time
    occurred_at: Time
    name: string
    type: string
    value: number
    unit: Nullable<string>
    trace_id: Nullable<string>
    span_id: Nullable<string>
    release: Nullable<string>
    environment: string
    attributes: JsonText
    notes: NullableJsonText
  }
  monitors: {
    id: string
    project_id: string
    slug: string
    schedule_type: Nullable<string>
    schedule_value: Nullable<string>
    schedule_unit: Nullable<string>
    timezone: Nullable<string>
    checkin_margin_minutes: Nullable<number>
    max_runtime_minutes: Nullable<number>
    failure_issue_threshold: Nullable<number>
    recovery_threshold: Nullable<number>
    owner: Nullable<string>
    created_at: Time
    updated_at: Time
    last_check_in_at: Time
  }
  check_ins: {
    monitor_id: string
    id: string
    project_id: string
    status: string
    environment: string
    release: Nullable<string>
    trace_id: Nullable<string>
    duration_ms: Nullable<number>
    started_at: NullableTime
    finished_at: NullableTime
    received_at: Time
    updated_at: Time
    notes: NullableJsonText
  }
}
