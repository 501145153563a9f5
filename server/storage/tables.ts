import type { ColumnType, Generated, JSONColumnType } from 'kysely'
import type { PeopleTables } from './people-tables.ts'
import type { PerformanceTables } from './performance-tables.ts'
import type { ReleaseTables } from './release-tables.ts'
import type { TelemetryTables } from './telemetry-tables.ts'

/** Row types of migrations/*.sql; test/conventions.test.ts holds them against the migrated database. */

type Time = ColumnType<Date, Date, Date>
type NullableTime = ColumnType<Date | null, Date | null | undefined, Date | null>
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>
type Json = JSONColumnType<Record<string, unknown>>
/** JSON in either direction: parsed when read, text when written. */
type JsonText = ColumnType<unknown, string, string>
type NullableJsonText = ColumnType<unknown, string | null | undefined, string | null>

export type Tables = CoreTables & PeopleTables & PerformanceTables & ReleaseTables & TelemetryTables

type CoreTables = {
  orgs: {
    id: string
    slug: string
    name: string
    data_key_sealed: string
    created_at: Time
    events_per_day: Nullable<number>
  }
  users: {
    id: string
    org_id: string
    email: string
    name: string
    role: 'viewer' | 'member' | 'admin' | 'owner'
    password_hash: Nullable<string>
    created_at: Time
    disabled_at: NullableTime
    not_before: NullableTime
  }
  sessions: {
    id: string
    user_id: string
    org_id: string
    method: string
    hmac_key_sealed: string
    counter: Generated<number>
    hold_until: NullableTime
    created_at: Time
    last_used_at: Time
    idle_expires_at: Time
    expires_at: Time
    ip: Nullable<string>
    user_agent: Nullable<string>
    ended_at: NullableTime
    end_reason: Nullable<string>
  }
  signing_keys: {
    kid: string
    state: 'active' | 'retired'
    public_jwk: Json
    private_sealed: string
    created_at: Time
    retired_at: NullableTime
  }
  seal_canary: { id: number; sealed: string }
  attempt_counters: {
    bucket: string
    key: string
    window_started_at: Time
    attempts: number
    blocked_until: NullableTime
    strikes: Generated<number>
  }
  projects: {
    id: string
    number: Generated<number>
    org_id: string
    name: string
    slug: string
    platform: string
    region: string
    settings: ColumnType<Record<string, unknown>, string | undefined, string>
    created_at: Time
    first_request_at: NullableTime
    first_event_at: NullableTime
    last_event_at: NullableTime
    issue_number: Generated<number>
    scrub_key_sealed: Nullable<string>
  }
  project_keys: {
    id: string
    project_id: string
    public_key: string
    created_at: Time
    expires_at: NullableTime
    last_seen_at: NullableTime
  }
  issues: {
    id: string
    org_id: string
    project_id: string
    number: number
    title: string
    culprit: string
    error_type: Nullable<string>
    error_value: Nullable<string>
    level: string
    platform: string
    status: 'unresolved' | 'resolved' | 'ignored' | 'regressed' | 'escalated'
    status_reason: Nullable<string>
    status_changed_at: Time
    resolved_at: NullableTime
    resolved_in_release: Nullable<string>
    ignore_until: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
    resolution: NullableJsonText
    pending_commit: Nullable<string>
    ignore_progress: NullableJsonText
    wake_at: NullableTime
    open_since: ColumnType<Date, Date | undefined, Date>
    spiked_at: NullableTime
    over_limit_at: NullableTime
    hourly_limit: Nullable<number>
    limit_hour: NullableTime
    gravity: Generated<number>
    users_day: Nullable<string>
    users_today: Generated<number>
    wide_day: Nullable<string>
    severity: number
    severity_pinned: Generated<boolean>
    assignee_id: Nullable<string>
    owner_team: Nullable<string>
    first_seen: Time
    last_seen: Time
    event_count: Generated<number>
    user_count: Generated<number>
    first_release: Nullable<string>
    last_release: Nullable<string>
    is_unhandled: boolean
    last_event_id: Nullable<string>
    created_at: Time
    seen_slot: ColumnType<Date, never, never>
    events_rank: ColumnType<number, never, never>
    users_rank: ColumnType<number, never, never>
    merged_into: Nullable<string>
    merged_count: Generated<number>
  }
  issue_search: {
    issue_id: string
    document: string
    stale_since: NullableTime
    own_document: Nullable<string>
    filler: ColumnType<string, never, never>
  }
  issue_new_lexemes: { id: Generated<number>; issue_id: string; lexemes: string }
  issue_views: {
    id: string
    org_id: string
    owner_id: Nullable<string>
    name: string
    is_shared: boolean
    query: string
    sort: string
    filters: ColumnType<Record<string, unknown>, string | undefined, string>
    position: Generated<number>
    created_at: Time
    updated_at: Time
  }
  issue_fingerprints: {
    project_id: string
    hash: Buffer
    issue_id: string
    source_id: string
    grouping_version: number
    parts: ColumnType<unknown, string, string>
    created_at: Time
  }
  issue_hours: { issue_id: string; hour: Time; events: number }
  project_minutes: { project_id: string; minute: Time; events: number; fatal: number }
  issue_users: { issue_id: string; user_hash: string; seen_day: Nullable<string> }
  issue_members: {
    issue_id: string
    own_id: string
    root_id: string
    parent_id: Nullable<string>
    merged_at: Time
    merged_by: Nullable<string>
    events_at_merge: number
    event_count: number
    first_seen: Time
    last_seen: Time
    title: string
    culprit: string
    error_type: Nullable<string>
    error_value: Nullable<string>
    level: string
    first_release: Nullable<string>
    last_release: Nullable<string>
    is_unhandled: boolean
    gravity: number
    severity: number
    last_event_id: Nullable<string>
    users_day: Nullable<string>
    wide_day: Nullable<string>
  }
  discards: {
    id: string
    project_id: string
    title: string
    issue_number: number
    event_count: number
    discarded_by: Nullable<string>
    created_at: Time
  }
  discarded_fingerprints: {
    project_id: string
    hash: Buffer
    discard_id: string
    grouping_version: number
    parts: JsonText
  }
  bulk_operations: {
    id: string
    org_id: string
    actor_id: string
    kind: 'change' | 'delete' | 'undo'
    request: JsonText
    fixes: ColumnType<unknown, string | undefined, string>
    undoes: Nullable<string>
    state: 'running' | 'done'
    total: number
    changed: Generated<number>
    unchanged: Generated<number>
    failed: Generated<number>
    created_at: Time
    finished_at: NullableTime
  }
  bulk_operation_issues: {
    operation_id: string
    position: number
    issue_id: string
    result: Nullable<'changed' | 'unchanged' | 'failed'>
    error: Nullable<string>
    before: NullableJsonText
    after: NullableJsonText
  }
  app_sessions: {
    project_id: string
    sid: string
    attributes_id: number
    started_at: Time
    has_init: boolean
    first_update_at: Time
    status: number
    errors: number
    duration_ms: Nullable<number>
    was_unhandled: boolean
    mechanism: Nullable<string>
    user_hash: Nullable<number>
    user_at: NullableTime
  }
  session_attributes: {
    project_id: string
    id: number
    release: Nullable<string>
    environment: Nullable<string>
    os: Nullable<string>
    device: Nullable<string>
    created_day: string
    last_used_day: string
  }
  session_rollups: {
    project_id: string
    bucket_seconds: number
    attributes_id: number
    bucket: Time
    total: number
    errored: number
    unhandled: number
    abnormal: number
    crashed: number
    anr_foreground: number
    anr_background: number
    users: Nullable<Buffer>
    unhandled_users: Nullable<Buffer>
    crashed_users: Nullable<Buffer>
    anr_users: Nullable<Buffer>
    anr_foreground_users: Nullable<Buffer>
    durations: Nullable<Buffer>
  }
  outcomes_hourly: {
    project_id: string
    key_id: string
    hour: Time
    category: string
    outcome: string
    reason: string
    quantity: number
  }
  org_usage_daily: { org_id: string; day: string; events: number }
  client_losses_hourly: {
    project_id: string
    hour: Time
    kind: 'discarded' | 'rate_limited' | 'filtered' | 'filtered_sampling'
    reason: string
    category: string
    quantity: number
  }
  storms_hourly: {
    project_id: string
    key_id: string
    hour: Time
    let_through: number
    fingerprints: number
    first_at: Time
    last_at: Time
  }
  events: {
    received_day: string
    project_id: string
    event_id: string
    issue_id: string
    received_at: Time
    occurred_at: Time
    sent_at: NullableTime
    level: string
    release: Nullable<string>
    environment: string
    client_ip: Nullable<string>
    user_agent: Nullable<string>
    user_hash: Nullable<number>
    body_encoding: number
    body_start: number
    body_end: number
    body: Buffer | null
    block_id: number | null
  }
  event_blocks: {
    received_day: string
    block_id: number
    body: Buffer
  }
  event_packings: {
    received_day: string
    stage: 'copying' | 'done'
    issue_id: Generated<string>
    occurred_at: Generated<Date>
    event_id: Generated<string>
    next_block_id: Generated<number>
    packed: Generated<number>
    started_at: Time
    finished_at: NullableTime
  }
  event_packing_changes: {
    received_day: string
    project_id: string
    event_id: string
  }
  attachments: {
    received_day: string
    id: string
    project_id: string
    event_id: string
    received_at: Time
    filename: string
    content_type: string
    attachment_type: string
    size_bytes: number
    sha256: Buffer
  }
  job_workers: { worker_id: string; seen_at: Time }
  attachment_chunks: { received_day: string; attachment_id: string; seq: number; encoding: number; bytes: Buffer }
  feedback: {
    id: string
    project_id: string
    feedback_id: string
    received_at: Time
    event_id: Nullable<string>
    issue_id: Nullable<string>
    message: string
    name: Nullable<string>
    email: Nullable<string>
    url: Nullable<string>
    source: Nullable<string>
    replay_id: Nullable<string>
    release: Nullable<string>
    environment: Nullable<string>
    user_hash: Nullable<number>
  }
  erasures: {
    id: string
    project_id: string
    org_id: string
    user_hash: number
    user_key_sealed: Nullable<string>
    state: 'running' | 'done'
    requested_at: Time
    finished_at: NullableTime
    erased: ColumnType<Record<string, number>, string | undefined, string>
  }
}
