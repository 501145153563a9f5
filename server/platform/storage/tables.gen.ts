import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** Row types of the migrated database, written by `npm run tables`. A test compares this file with the database. */

/** JSON is parsed when it is read and written as text. */
type Json<T> = ColumnType<T, string, string>
type DefaultJson<T> = ColumnType<T, string | undefined, string>
type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>

export type Tables = {
  account_tokens: {
    user_id: string
    purpose: 'reset' | 'email'
    token_hash: Buffer
    email: string | null
    created_at: Date
    expires_at: Date
  }
  alert_actions: {
    id: string
    rule_id: string
    org_id: string
    position: number
    is_escalation: boolean
    type: string
    recipients: NullableJson<unknown>
    config_sealed: string | null
    masked: DefaultJson<unknown>
    last_status: number | null
    last_attempt_at: Date | null
    last_ok: boolean | null
  }
  alert_deliveries: {
    alert_id: string
    n: GeneratedAlways<number>
    action_id: string | null
    action_type: string
    target: string
    purpose: string
    delivery_id: string | null
    skipped: string | null
    created_at: Date
  }
  alert_issue_minutes: {
    project_id: string
    issue_id: string
    minute: Date
    events: number
  }
  alert_mail_mutes: {
    id: string
    org_id: string
    rule_id: string | null
    user_id: string | null
    address_hash: Buffer | null
    created_at: Date
  }
  alert_outside_mails: {
    address_hash: Buffer
    org_id: string
    sent_at: Date
  }
  alert_rules: {
    id: string
    org_id: string
    project_id: string
    name: string
    trigger_type: string
    conditions: Json<unknown>
    enabled: boolean
    cooldown_minutes: number
    escalate_after_minutes: number | null
    close_with_issue: boolean
    created_by: string | null
    created_at: Date
    updated_at: Date
    last_fired_at: Date | null
    evaluated_minute: Date | null
    fired_minute: Date | null
    fired_in_minute: Generated<number>
    deleted_at: Date | null
  }
  alert_subjects: {
    rule_id: string
    subject: string
    last_fired_at: Date
  }
  alert_summaries: {
    rule_id: string
    minute: Date
  }
  api_keys: {
    id: string
    user_id: string
    org_id: string
    name: string
    prefix: string
    key_hash: Buffer
    scopes: string[]
    created_at: Date
    last_used_at: Date | null
    expires_at: Date | null
  }
  app_sessions: {
    project_id: string
    sid: string
    release: string
    environment: string
    os: string
    device: string
    device_class: string
    started_at: Date
    has_init: boolean
    first_update_at: Date
    status: number
    errors: number
    duration_ms: number | null
    was_unhandled: boolean
    mechanism: string | null
    user_hash: number | null
    user_at: Date | null
  }
  applications: {
    id: string
    org_id: string
    name: string
    is_default: boolean
    created_at: Date
  }
  assembled_files: {
    project_id: string
    sha1: Buffer
    file_ids: string[]
    created_at: Date
  }
  assistant_usage: {
    org_id: string
    day: string
    requests: Generated<number>
    input_tokens: Generated<number>
    output_tokens: Generated<number>
    cost_micros: Generated<number>
    minute: Date
    minute_requests: Generated<number>
  }
  attachment_chunks: {
    received_day: string
    attachment_id: string
    seq: number
    encoding: number
    bytes: Buffer
  }
  attachments: {
    received_day: string
    id: string
    project_id: string
    event_id: string
    received_at: Date
    filename: string
    content_type: string
    attachment_type: string
    size_bytes: number
    sha256: Buffer
    refused: string | null
  }
  attempt_counters: {
    bucket: string
    key: string
    window_started_at: Date
    attempts: number
    blocked_until: Date | null
    strikes: Generated<number>
  }
  audit_checkpoints: {
    org_id: string
    seq: number
    hash: Buffer
    created_at: Date
    signature: Buffer
  }
  audit_heads: {
    org_id: string
    seq: number
    hash: Buffer
    mac: Buffer
    is_signed: Generated<boolean>
  }
  audit_key: {
    id: number
    private_sealed: string
    created_at: Date
  }
  audit_log: {
    org_id: string
    seq: number
    id: string
    created_at: Date
    action: string
    event_type: string | null
    actor_type: 'user' | 'api_key' | 'system' | 'integration'
    actor_id: string | null
    actor_email: string | null
    actor_role: string | null
    target_type: string | null
    target_id: string | null
    target_label: string | null
    project_id: string | null
    ip: string | null
    user_agent: string | null
    request_id: string | null
    session_id: string | null
    outcome: 'ok' | 'denied' | 'failed'
    meta: string
    prev_hash: Buffer
    hash: Buffer
    mac: Buffer
  }
  backup_codes: {
    factor_id: string
    hash: Buffer
    used_at: Date | null
  }
  backup_drills: {
    id: string
    folder: string
    name: string
    started_at: Date
    finished_at: Date
    outcome: 'restorable' | 'not_restorable' | 'not_run'
    problem: string | null
    row_count: number | null
  }
  backup_runs: {
    id: string
    folder: string
    started_at: Date
    finished_at: Date | null
    name: string | null
    problem: string | null
    row_count: number | null
    byte_count: number | null
    stored_bytes: number | null
    written_bytes: number | null
  }
  battery_hours: {
    project_id: string
    hour: Date
    device_key: number
  }
  battery_levels: {
    project_id: string
    slot: number
    device_key: number
    seen_at: Date
    from_at: Date | null
    from_percent: number | null
  }
  blob_pieces: {
    blob_id: string
    seq: number
    encoding: number
    bytes: Buffer
  }
  blob_uses: {
    holder: string
    holder_id: string
    blob_id: string
    day: string | null
  }
  blobs: {
    id: string
    org_id: string
    sha256: Buffer | null
    size_bytes: number | null
    draft_since: Date | null
  }
  bulk_operation_issues: {
    operation_id: string
    position: number
    issue_id: string
    result: 'changed' | 'unchanged' | 'failed' | null
    error: string | null
    before: NullableJson<unknown>
    after: NullableJson<unknown>
  }
  bulk_operations: {
    id: string
    org_id: string
    actor_id: string
    kind: 'change' | 'delete' | 'undo'
    request: Json<unknown>
    undoes: string | null
    state: 'running' | 'done'
    total: number
    changed: Generated<number>
    unchanged: Generated<number>
    failed: Generated<number>
    created_at: Date
    finished_at: Date | null
    fixes: DefaultJson<unknown>
  }
  canary: {
    id: number
    run_id: string | null
    state: Generated<'pending' | 'ok' | 'late' | 'broken'>
    failed_step: 'intake' | 'digestion' | 'alert' | 'delivery' | null
    explanation: Generated<string>
    missed_after: string | null
  }
  canary_runs: {
    id: string
    started_at: Date
    accepted_at: Date | null
    refusal: string | null
    arrived_at: Date | null
    removed_at: Date | null
  }
  capped_events: {
    received_day: string
    project_id: string
    event_id: string
  }
  chat_link_offers: {
    token_hash: Buffer
    team_id: string
    chat_user_id: string
    team_name: string
    chat_user_name: string
    expires_at: Date
  }
  chat_links: {
    id: string
    team_id: string
    chat_user_id: string
    team_name: string
    chat_user_name: string
    user_id: string
    created_at: Date
  }
  chat_requests: {
    key: Buffer
    seen_at: Date
  }
  check_ins: {
    monitor_id: string
    id: string
    project_id: string
    status: 'in_progress' | 'ok' | 'error'
    environment: string
    release: string | null
    trace_id: string | null
    duration_ms: number | null
    started_at: Date | null
    finished_at: Date | null
    received_at: Date
    updated_at: Date
    notes: NullableJson<unknown>
  }
  client_losses_hourly: {
    project_id: string
    hour: Date
    kind: 'discarded' | 'rate_limited' | 'filtered' | 'filtered_sampling'
    reason: string
    category: string
    quantity: number
  }
  code_host_deliveries: {
    project_id: string
    delivery_id: string
    event: string
    received_at: Date
    ip: string
    request_id: string
    state: 'waiting' | 'done' | 'failed'
    body: Buffer | null
    summary: string | null
  }
  code_hosts: {
    id: string
    org_id: string
    project_id: string
    provider: 'github' | 'gitlab'
    repository_url: string
    secret_sealed: string
    secret_at: Date
    token_sealed: string | null
    default_branch: string | null
    created_at: Date
    updated_at: Date
    refused_at: Date | null
    sent_at: Date | null
    sent: string | null
    error: string | null
    error_at: Date | null
    broken_at: Date | null
    slowed_until: Date | null
    listed_at: Date | null
    source_roots: DefaultJson<unknown>
    reads_owners: Generated<boolean>
    owners_path: string | null
    owners_rules: number | null
    owners_unknown: DefaultJson<unknown>
    owners_read_at: Date | null
  }
  comment_mentions: {
    comment_id: string
    written: string
    user_id: string
  }
  comments: {
    id: string
    issue_id: string
    author_id: string | null
    body: string
    created_at: Date
    edited_at: Date | null
  }
  costly_rules_hourly: {
    project_id: string
    hour: Date
    path: string
    regex: string
    requests: number
    texts: number
    last_at: Date
  }
  deploys: {
    id: string
    release_id: string
    project_id: string
    environment: string
    name: string | null
    url: string | null
    started_at: Date | null
    finished_at: Date | null
    created_at: Date
  }
  devices: {
    id: string
    user_id: string
    fingerprint: Buffer
    label: string
    first_seen_at: Date
    last_seen_at: Date
  }
  discarded_fingerprints: {
    project_id: string
    hash: Buffer
    discard_id: string
    grouping_version: number
    parts: Json<unknown>
  }
  discards: {
    id: string
    project_id: string
    title: string
    issue_number: number
    event_count: number
    discarded_by: string | null
    created_at: Date
  }
  erasures: {
    id: string
    project_id: string
    org_id: string
    user_hash: number
    user_key_sealed: string | null
    state: 'running' | 'done'
    requested_at: Date
    finished_at: Date | null
    erased: DefaultJson<Record<string, number>>
  }
  event_blocks: {
    received_day: string
    block_id: number
    body: Buffer | null
    segment_id: string | null
    segment_start: number | null
    segment_end: number | null
  }
  event_packing_changes: {
    received_day: string
    project_id: string
    event_id: string
  }
  event_packings: {
    received_day: string
    stage: 'copying' | 'done'
    files: Generated<string>
    copied_to: Generated<string>
    packed: Generated<number>
    started_at: Date
    finished_at: Date | null
    moved_at: Date | null
  }
  event_segment_removals: {
    id: string
    received_day: string
    block_id: number
    part_start: number
    part_end: number
  }
  event_segments: {
    id: string
    received_day: string
    sha256: string
    byte_count: number
    state: 'writing' | 'stored' | 'garbage'
    changed_at: Date
  }
  event_values: {
    project_id: string
    kind: number
    id: number
    value: string
    last_day: string
  }
  events: {
    received_day: string
    project_id: string
    event_id: string
    issue_id: string
    received_at: Date
    occurred_at: Date
    sent_at: Date | null
    level: string
    release: string | null
    environment: string
    client_ip: string | null
    user_agent: string | null
    user_hash: number | null
    body_encoding: number
    body_start: number
    body_end: number
    body: Buffer | null
    block_id: number | null
    os_id: number | null
    device_id: number | null
    exception_type_id: number | null
  }
  feedback: {
    id: string
    project_id: string
    feedback_id: string
    received_at: Date
    event_id: string | null
    issue_id: string | null
    message: string
    name: string | null
    email: string | null
    url: string | null
    source: string | null
    replay_id: string | null
    release: string | null
    environment: string | null
    user_hash: number | null
    status: Generated<'open' | 'resolved' | 'spam'>
    assignee_id: string | null
    read_at: Date | null
    context: NullableJson<unknown>
    notify_on_resolved: Generated<boolean>
    notified_at: Date | null
  }
  feedback_activity: {
    id: string
    message_id: string
    kind: 'status_changed' | 'assigned' | 'note' | 'reply' | 'notified' | 'not_notified'
    actor_id: string | null
    body: string | null
    data: DefaultJson<unknown>
    created_at: Date
  }
  fired_alerts: {
    id: string
    org_id: string
    project_id: string
    rule_id: string
    rule_name: string
    close_with_issue: boolean
    issue_id: string | null
    subject: string
    cause: string
    trigger_type: string
    title: string
    severity: string
    value: number | null
    unit: string | null
    threshold: number | null
    window_minutes: number | null
    explanation: string
    state: 'firing' | 'acknowledged' | 'resolved' | 'expired'
    fired_at: Date
    held_at: Date
    acknowledged_by: string | null
    acknowledged_at: Date | null
    resolved_at: Date | null
    resolved_reason: string | null
    escalates_at: Date | null
    escalated_at: Date | null
    summary_minute: Date | null
  }
  flood_sampling_hourly: {
    project_id: string
    key_id: string
    hour: Date
    let_through: number
    fingerprints: number
    first_at: Date
    last_at: Date
  }
  health_attributes: {
    project_id: string
    id: number
    level: number
    release: string | null
    environment: string | null
    os: string | null
    device: string | null
    device_class: string | null
    created_day: string
    last_used_day: string
  }
  health_days: {
    project_id: string
    day: string
    level: number
    admitted: number
    refused: number
  }
  health_deltas: {
    id: GeneratedAlways<number>
    project_id: string
    source: number
    minute: Date
    release: string
    environment: string
    os: string
    device: string
    device_class: string
    total: number
    errored: number
    unhandled: number
    abnormal: number
    crashed: number
    anr_foreground: number
    anr_background: number
    critical: number
    users: Buffer | null
    unhandled_users: Buffer | null
    crashed_users: Buffer | null
    anr_users: Buffer | null
    anr_foreground_users: Buffer | null
    durations: Buffer | null
    durations_removed: Buffer | null
  }
  health_rollups: {
    project_id: string
    source: number
    bucket_seconds: number
    attributes_id: number
    bucket: Date
    total: number
    errored: number
    unhandled: number
    abnormal: number
    crashed: number
    anr_foreground: number
    anr_background: number
    critical: number
    users_count: number | null
    unhandled_users_count: number | null
    crashed_users_count: number | null
    anr_users_count: number | null
    anr_foreground_users_count: number | null
  }
  health_sketches: {
    project_id: string
    source: number
    bucket_seconds: number
    attributes_id: number
    bucket: Date
    users: Buffer | null
    unhandled_users: Buffer | null
    crashed_users: Buffer | null
    anr_users: Buffer | null
    anr_foreground_users: Buffer | null
    durations: Buffer | null
  }
  host_commits: {
    project_id: string
    sha: string
    seq: GeneratedAlways<number>
    is_default: boolean
    message: string
    author_name: string | null
    author_email: string | null
    author_login: string | null
    committed_at: Date
    files: NullableJson<unknown>
    name_keys: string[] | null
    file_count: number | null
    is_wanted: Generated<boolean>
  }
  host_files: {
    project_id: string
    path: string
    name: string
  }
  host_mentions: {
    project_id: string
    issue_id: string
    kind: 'commit' | 'pull'
    ref: string
    title: string
    url: string
    author: string | null
    state: 'mentioned' | 'open' | 'merged' | 'closed' | 'fixes'
    mentioned_at: Date
    says_fix: Generated<boolean>
  }
  host_tags: {
    project_id: string
    tag: string
    sha: string
    tagged_at: Date
  }
  import_differences: {
    import_id: string
    kind: string
    reason: string
    instead: string
    count: number
    examples: Json<unknown>
  }
  imported_things: {
    org_id: string
    source: string
    kind: 'project' | 'issue' | 'comment' | 'rule' | 'file'
    source_id: string
    id: string | null
    quantity: Generated<number>
  }
  imports: {
    id: string
    org_id: string
    source_url: string
    source_org: string
    token_sealed: string | null
    state: 'mapping' | 'running' | 'paused' | 'stopped' | 'done'
    mapping: Json<unknown>
    position: Json<unknown>
    counts: Json<unknown>
    problem: string | null
    failures: Generated<number>
    created_by: string | null
    created_at: Date
    started_at: Date | null
    ended_at: Date | null
  }
  inbox_entries: {
    id: string
    org_id: string
    user_id: string
    issue_id: string
    kind: 'assigned' | 'mentioned' | 'commented' | 'regressed' | 'escalated' | 'reopened'
    actor_id: string | null
    comment_id: string | null
    sentence: string
    created_at: Date
    read_at: Date | null
  }
  invites: {
    id: string
    org_id: string
    email: string
    role: 'viewer' | 'member' | 'admin' | 'owner'
    invited_by: string | null
    token_hash: Buffer
    created_at: Date
    sent_at: Date | null
    expires_at: Date
  }
  issue_activity: {
    id: string
    issue_id: string
    kind: string
    actor_id: string | null
    sentence: string
    data: DefaultJson<Record<string, unknown>>
    created_at: Date
  }
  issue_analyses: {
    id: string
    issue_id: string
    org_id: string
    created_at: Date
    created_by: string | null
    source: 'built_in' | 'model'
    model: string | null
    confidence: 'low' | 'medium' | 'high'
    content: Json<unknown>
    events_looked_at: number
    tokens: number | null
    outdated_at: Date | null
  }
  issue_analysis_feedback: {
    analysis_id: string
    user_id: string
    is_helpful: boolean
    at: Date
  }
  issue_analysis_requests: {
    issue_id: string
    org_id: string
    reason: 'new' | 'regressed'
    asked_at: Date
  }
  issue_fingerprints: {
    project_id: string
    hash: Buffer
    group_id: string
    grouping_version: number
    parts: Json<unknown>
    created_at: Date
  }
  issue_generations: {
    project_id: string
    generation: Generated<number>
  }
  issue_groups: {
    id: string
    issue_id: string
    event_count: Generated<number>
    user_count: Generated<number>
    first_seen: Date
    last_seen: Date
    first_release: string | null
    last_release: string | null
    title: string
    culprit: string
    error_type: string | null
    error_value: string | null
    level: string
    last_event_id: string | null
    is_unhandled: boolean
    event_severity: Generated<number>
    merged_at: Date | null
    merged_by: string | null
    users_day: string | null
    high_impact_day: string | null
  }
  issue_hours: {
    group_id: string
    hour: Date
    events: number
    events_1: Generated<number>
    events_2: Generated<number>
    events_3: Generated<number>
    fatal: Generated<number>
    fatal_1: Generated<number>
    fatal_2: Generated<number>
    fatal_3: Generated<number>
  }
  issue_journal: {
    id: GeneratedAlways<number>
    shard: number
    body: string
  }
  issue_new_terms: {
    id: GeneratedAlways<number>
    issue_id: string
    terms: string
  }
  issue_search: {
    issue_id: string
    document: string
    stale_since: Date | null
    filler: GeneratedAlways<string>
    own_document: string | null
  }
  issue_subscriptions: {
    issue_id: string
    user_id: string
    reason: 'manual' | 'assigned' | 'mentioned' | 'commented' | 'changed'
    is_subscribed: boolean
    changed_at: Date
  }
  issue_user_slots: {
    group_id: string
    slot: number
    before_slot: number
    users: number
  }
  issue_users: {
    group_id: string
    user_hash: number
    seen_slot: Generated<number>
  }
  issue_views: {
    id: string
    org_id: string
    created_by: string | null
    name: string
    is_shared: boolean
    query: string
    sort: string
    filters: DefaultJson<Record<string, unknown>>
    position: Generated<number>
    created_at: Date
    updated_at: Date
  }
  issues: {
    id: string
    org_id: string
    project_id: string
    number: number
    title: string
    culprit: string
    error_type: string | null
    error_value: string | null
    level: string
    platform: string
    status: 'unresolved' | 'resolved' | 'ignored' | 'regressed' | 'escalated'
    status_reason: string | null
    status_changed_at: Date
    resolved_at: Date | null
    resolved_in_release: string | null
    ignore_until: NullableJson<Record<string, unknown>>
    severity: number
    severity_pinned: Generated<boolean>
    assignee_id: string | null
    assignee_team: string | null
    first_seen: Date
    last_seen: Date
    event_count: Generated<number>
    user_count: Generated<number>
    first_release: string | null
    last_release: string | null
    is_unhandled: boolean
    last_event_id: string | null
    created_at: Date
    resolution: NullableJson<unknown>
    pending_commit: string | null
    ignore_progress: NullableJson<unknown>
    unignore_at: Date | null
    open_since: Generated<Date>
    escalated_at: Date | null
    over_limit_at: Date | null
    hourly_limit: number | null
    limit_hour: Date | null
    event_severity: Generated<number>
    users_day: string | null
    users_today: Generated<number>
    high_impact_day: string | null
    merged_into: string | null
    merged_count: Generated<number>
    seen_slot: GeneratedAlways<Date>
    events_rank: GeneratedAlways<number>
    users_rank: GeneratedAlways<number>
  }
  job_workers: {
    worker_id: string
    seen_at: Date
  }
  journey_errors: {
    project_id: string
    minute: Date
    journey: string
    errors: number
  }
  log_counts: {
    project_id: string
    minute: Date
    received_day: string
    level: string
    entries: number
  }
  logs: {
    received_day: string
    project_id: string
    id: string
    received_at: Date
    occurred_at: Date
    level: string
    severity_number: number
    body: string
    trace_id: string | null
    span_id: string | null
    release: string | null
    environment: string
    attributes: Json<unknown>
    notes: NullableJson<unknown>
  }
  memberships: {
    user_id: string
    org_id: string
    role: 'viewer' | 'member' | 'admin' | 'owner'
    created_at: Date
    last_used_at: Date | null
    disabled_at: Date | null
    removed_at: Date | null
  }
  memory_levels: {
    project_id: string
    slot: number
    owner: number
    seen_at: Date
    from_at: Date
    from_bytes: number
  }
  monitors: {
    id: string
    project_id: string
    slug: string
    schedule_type: 'crontab' | 'interval' | null
    schedule_value: string | null
    schedule_unit: string | null
    timezone: string | null
    checkin_margin_minutes: number | null
    max_runtime_minutes: number | null
    failure_issue_threshold: number | null
    recovery_threshold: number | null
    owner: string | null
    created_at: Date
    updated_at: Date
    last_check_in_at: Date
    state: Generated<'active' | 'paused' | 'muted'>
    state_at: Date | null
  }
  notification_preferences: {
    user_id: string
    org_id: string
    email: boolean
    push: boolean
    push_min_severity: 'low' | 'medium' | 'high' | 'critical'
    quiet_hours: Json<unknown>
    updated_at: Date
    digest: Generated<boolean>
    digest_time_zone: Generated<string>
    digest_week: string | null
  }
  notification_projects: {
    user_id: string
    org_id: string
    project_id: string
    email: boolean
    push: boolean
  }
  operations: {
    id: string
    org_id: string
    kind: string
    project_id: string
    label: string
    state: 'running' | 'done'
    parts_done: Generated<number>
    rows_deleted: Generated<number>
    horizon: number | null
    created_at: Date
    finished_at: Date | null
  }
  org_usage_daily: {
    org_id: string
    day: string
    events: number
  }
  orgs: {
    id: string
    slug: string
    name: string
    data_key_sealed: string
    created_at: Date
    events_per_day: number | null
    first_invite_at: Date | null
  }
  outbox_attempts: {
    delivery_id: string
    n: number
    trigger: 'schedule' | 'replay'
    started_at: Date
    duration_ms: number
    status: number | null
    error_code: string | null
    error_text: string | null
    details: DefaultJson<unknown>
  }
  outbox_deliveries: {
    id: string
    seq: GeneratedAlways<number>
    lane_id: string
    org_id: string
    message_id: string
    type: string
    state: Generated<'pending' | 'in_flight' | 'delivered' | 'failed'>
    attempt: Generated<number>
    attempts_made: Generated<number>
    next_attempt_at: Generated<Date | null>
    due_at: Generated<Date | null>
    lease_token: string | null
    lease_replay: 'once' | 'with_retries' | null
    replay: 'once' | 'with_retries' | null
    secret_version: number | null
    last_status: number | null
    last_error_code: string | null
    last_duration_ms: number | null
    reason: string | null
    created_at: Generated<Date>
    delivered_at: Date | null
    erased_at: Date | null
    is_first: GeneratedAlways<boolean>
    status: GeneratedAlways<string>
  }
  outbox_lanes: {
    id: string
    org_id: string
    channel: string
    max_in_flight: Generated<number>
    max_per_second: number | null
    rate_used_until: Generated<Date>
    is_strict: Generated<boolean>
    paused_at: Date | null
    closed_at: Date | null
    closed_reason: string | null
  }
  outbox_messages: {
    id: string
    org_id: string
    type: string
    user_id: string | null
    body: Buffer | null
    created_at: Generated<Date>
  }
  outcomes_hourly: {
    project_id: string
    key_id: string
    hour: Date
    category: string
    outcome: 'accepted' | 'filtered' | 'rate_limited' | 'invalid' | 'duplicate' | 'discarded' | 'dropped'
    reason: string
    quantity: number
  }
  passkeys: {
    id: string
    user_id: string
    credential_id: Buffer
    public_key: Buffer
    counter: number
    name: string
    transports: string[]
    backed_up: boolean
    created_at: Date
    last_used_at: Date | null
  }
  performance_days: {
    project_id: string
    day: string
    names: number
    series: number
    devices: Generated<number>
    operations: Generated<number>
    parts: Generated<number>
  }
  performance_deltas: {
    project_id: string
    series_id: string
    device: string
    metric: number
    minute: Date
    count: number
    failures: number
    too_long: number
    prewarmed: number
    invalid: number
    sketch: Buffer
    users: Buffer | null
  }
  performance_pending: {
    segment_key: number
    project_id: string
    received_at: Date
    occurred_at: Date
    metric: number
    value: number
    left_out: string | null
    name: string
    op: string
    release: string
    environment: string
    os: string
    device_class: string
    device: string
  }
  performance_rollups: {
    project_id: string
    grain: number
    metric: number
    bucket: Date
    step: number
    series_id: string
    count: number
    failures: number
    too_long: number
    prewarmed: number
    invalid: number
    sketch: Buffer
    users: Buffer | null
  }
  performance_seen: {
    received_day: string
    key: number
    series_id: string | null
  }
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
    device: string
    last_day: string
    span: Generated<string>
  }
  precursors: {
    project_id: string
    minute: Date
    owner: number
    sign: number
  }
  project_ids: {
    id: string
    deleted_at: Date | null
    deleted_from: string | null
  }
  project_keys: {
    id: string
    project_id: string
    public_key: string
    created_at: Date
    expires_at: Date | null
    last_seen_at: Date | null
    dsn_number: string | null
    name: Generated<string>
    rate_limit_per_minute: number | null
    disabled_at: Date | null
    place: Generated<number>
  }
  project_minutes: {
    project_id: string
    minute: Date
    events: number
    fatal: number
  }
  projects: {
    id: string
    number: Generated<number>
    org_id: string
    name: string
    slug: string
    platform: string
    region: string
    settings: DefaultJson<Record<string, unknown>>
    created_at: Date
    first_request_at: Date | null
    first_event_at: Date | null
    last_event_at: Date | null
    key_refused_at: Date | null
    key_refused_reason: string | null
    issue_number: Generated<number>
    new_issues_hour: Date | null
    new_issues_in_hour: Generated<number>
    new_issues_in_day: Generated<number>
    scrub_key_sealed: string | null
  }
  push_devices: {
    id: string
    org_id: string
    user_id: string
    platform: 'ios' | 'android' | 'web'
    provider: 'expo' | 'fcm'
    token_hash: Buffer
    token_sealed: string
    token_masked: string
    session_id: string | null
    api_key_id: string | null
    created_at: Date
    registered_at: Date
    last_sent_at: Date | null
    last_error_code: string | null
    last_error_text: string | null
    last_error_at: Date | null
  }
  release_commits: {
    release_id: string
    project_id: string
    sha: string
    position: number
    repository: string | null
    message: string | null
    author_name: string | null
    author_email: string | null
    committed_at: Date | null
    files: NullableJson<unknown>
  }
  releases: {
    id: string
    project_id: string
    version: string
    state: Generated<'planned' | 'open' | 'archived'>
    url: string | null
    ref: string | null
    created_at: Date
    released_at: Date | null
    first_seen_at: Date | null
    last_seen_at: Date | null
    first_event_at: Date | null
    last_event_at: Date | null
    first_session_at: Date | null
    last_session_at: Date | null
    dated_at: GeneratedAlways<Date>
    version_key: GeneratedAlways<string>
  }
  saved_queries: {
    id: string
    project_id: string
    name: string
    question: string | null
    statement: string | null
    created_by: string | null
    created_at: Date
  }
  seal_canary: {
    id: number
    sealed: string
  }
  security_hours: {
    project_id: string
    hour: Date
    group_id: string
    kind: number
    at: Date
  }
  sessions: {
    id: string
    user_id: string
    org_id: string
    method: string
    hmac_key_sealed: string
    counter: Generated<number>
    hold_until: Date | null
    authenticated_at: Date
    created_at: Date
    last_used_at: Date
    idle_expires_at: Date
    expires_at: Date
    ip: string | null
    user_agent: string | null
    device_id: string | null
    ended_at: Date | null
    end_reason: string | null
    has_code: Generated<boolean>
  }
  signing_keys: {
    kid: string
    state: string
    public_jwk: Json<Record<string, unknown>>
    private_sealed: string
    created_at: Date
    retired_at: Date | null
    activated_at: Date | null
  }
  social_identities: {
    provider: 'github' | 'google'
    issuer: string
    subject: string
    user_id: string
    login: string
    linked_at: Date
    last_used_at: Date | null
  }
  social_pending_links: {
    token_hash: Buffer
    provider: string
    issuer: string
    subject: string
    login: string
    expires_at: Date
  }
  social_transactions: {
    state_hash: Buffer
    browser_hash: Buffer
    provider: string
    linking_session_id: string | null
    created_at: Date
    expires_at: Date
  }
  spool: {
    shard: number
    project_number: number
    id: GeneratedAlways<number>
    received_at: Date
    entry_count: number
    byte_count: number
    attempts: Generated<number>
    entries: Buffer
    body: Buffer
  }
  spool_log: {
    stream: string
    created: string
    sequence: number
    message_id: string | null
    moved_until: Date
  }
  spool_quarantine: {
    id: GeneratedAlways<number>
    project_id: string
    received_at: Date
    quarantined_at: Date
    reason: string
    attempts: number
    entry: Buffer
    body: Buffer
    counted: NullableJson<unknown>
  }
  spool_settled: {
    id: number
  }
  sso_configs: {
    org_id: string
    issuer: string
    client_id: string
    client_secret_sealed: string
    client_secret_updated_at: Date
    jit: boolean
    default_role: 'viewer' | 'member'
    enforced: boolean
    last_error: string | null
    last_error_at: Date | null
    created_at: Date
    updated_at: Date
  }
  sso_domains: {
    org_id: string
    domain: string
    token: string
    created_at: Date
    verified_at: Date | null
    verified_by: 'dns' | 'operator' | null
    checked_at: Date | null
    missing_since: Date | null
  }
  sso_identities: {
    org_id: string
    issuer: string
    subject: string
    user_id: string
    linked_at: Date
    last_used_at: Date
  }
  sso_pending_links: {
    token_hash: Buffer
    org_id: string
    issuer: string
    subject: string
    user_id: string
    expires_at: Date
  }
  sso_transactions: {
    state_hash: Buffer
    browser_hash: Buffer
    org_id: string
    created_at: Date
    expires_at: Date
  }
  symbol_files: {
    id: string
    org_id: string
    project_id: string
    kind: 'js_source_map' | 'proguard' | 'macho' | 'elf' | 'breakpad' | 'dart_symbol_map'
    name: string
    debug_id: string | null
    code_id: string | null
    cpu_name: string | null
    release: string | null
    dist: string | null
    url: string | null
    sha256: Buffer
    object: Generated<number>
    size_bytes: number
    features: Generated<string[]>
    created_by: string | null
    created_at: Date
    state: 'indexing' | 'ready' | 'failed'
    problem: string | null
    attempts: Generated<number>
  }
  symbol_indexes: {
    id: string
    org_id: string
    sha256: Buffer
    object: number
    kind: string
    version: number
    directory: Buffer
    created_at: Date
  }
  symbol_parts: {
    index_id: string
    part: number
    bytes: Buffer
  }
  totp_factors: {
    id: string
    user_id: string
    secret_sealed: string
    backup_salt: Buffer
    created_at: Date
    verified_at: Date | null
    enrolled_step: number | null
    used_step: number | null
  }
  trace_days: {
    project_id: string
    day: string
    segments: Generated<number>
    considered: Generated<number>
    kept_for_error: Generated<number>
    kept_for_slowness: Generated<number>
  }
  trace_errors: {
    received_day: string
    project_id: string
    trace_id: string
    event_id: string
    occurred_at: Date
    span_id: string | null
  }
  trace_metrics: {
    received_day: string
    project_id: string
    id: string
    received_at: Date
    occurred_at: Date
    name: string
    type: string
    value: number
    unit: string | null
    trace_id: string | null
    span_id: string | null
    release: string | null
    environment: string
    attributes: Json<unknown>
    notes: NullableJson<unknown>
  }
  trace_parts: {
    received_day: string
    project_id: string
    trace_id: string
    part: number
    received_at: Date
    name: string | null
    op: string | null
    duration_ms: number | null
    span_count: number
    left_out: Generated<number>
    spans: Buffer
    keep: Generated<number>
  }
  traces: {
    org_id: string
    trace_id: string
    project_id: string
    keep: number
    received_at: Date
    summarised_to: Date | null
    is_stale: Generated<boolean>
    started_at: Date
    duration_ms: Generated<number>
    name: Generated<string>
    op: Generated<string>
    failed: Generated<boolean>
    span_count: Generated<number>
    projects: DefaultJson<unknown>
    project_ids: Generated<string[]>
    names: Generated<string[]>
    releases: Generated<string[]>
    environments: Generated<string[]>
    tags: Generated<string[]>
  }
  tracker_integrations: {
    id: string
    org_id: string
    project_id: string
    provider: 'tracker_a' | 'tracker_b' | 'codehost'
    config_sealed: string
    token_hash: Buffer
    workspace: string
    account: string
    team_id: string
    team_name: string
    type_id: string | null
    type_name: string | null
    sync_states: boolean
    created_by: string | null
    created_at: Date
    updated_at: Date
    last_received_at: Date | null
    last_sent_at: Date | null
    last_error: string | null
    last_error_at: Date | null
    broken_at: Date | null
    slowed_until: Date | null
  }
  tracker_tickets: {
    issue_id: string
    org_id: string
    project_id: string
    integration_id: string | null
    provider: 'tracker_a' | 'tracker_b' | 'codehost'
    state: 'creating' | 'linked' | 'gone'
    marker: string
    lease_token: string | null
    lease_until: Date | null
    external_id: string | null
    key: string | null
    url: string | null
    remote_state: 'open' | 'closed' | 'reopening' | null
    remote_status: string | null
    checked_at: Date | null
    created_by: string | null
    created_at: Date
  }
  upload_chunks: {
    id: string
    org_id: string
    sha1: Buffer
    size_bytes: number
    created_at: Date
  }
  used_challenges: {
    hash: Buffer
    expires_at: Date
  }
  user_devices: {
    project_id: string
    user_hash: number
    os: string
    device: string
    device_class: string
    seen_day: string
  }
  user_identities: {
    project_id: string
    user_hash: number
    seen_day: string
    key: string
    value: string
  }
  users: {
    id: string
    email: string
    name: string
    password_hash: string | null
    created_at: Date
    disabled_at: Date | null
    first_device_at: Date | null
    not_before: Date | null
    email_proved_at: Date | null
  }
  webhook_days: {
    endpoint_id: string
    day: string
    delivered: Generated<number>
    failed: Generated<number>
  }
  webhook_endpoints: {
    id: string
    org_id: string
    app_id: string
    url: string
    description: Generated<string>
    events: string[]
    secret_version: Generated<number>
    headers_sealed: string | null
    standard_headers: Generated<boolean>
    auto_pause: Generated<boolean>
    auto_paused_at: Date | null
    last_status: number | null
    last_attempt_at: Date | null
    last_delivered_at: Date | null
    failing_since: Date | null
    failed_attempts: Generated<number>
    tls_error: NullableJson<unknown>
    tls_audited: DefaultJson<unknown>
    exhausted_audited: NullableJson<unknown>
    created_at: Date
    updated_at: Date
    deleted_at: Date | null
  }
  webhook_secrets: {
    endpoint_id: string
    version: number
    secret_sealed: string
    prefix: string
    created_at: Date
    overlap_until: Date | null
  }
}
