import type { ColumnType } from 'kysely'

/** Row types of migrations/0015_releases.sql, a part of {@link Tables} (tables.ts). */

type Time = ColumnType<Date, Date, Date>
type NullableTime = ColumnType<Date | null, Date | null | undefined, Date | null>
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>
type NullableJsonText = ColumnType<unknown, string | null | undefined, string | null>
type State = 'planned' | 'open' | 'archived'

export type ReleaseTables = {
  releases: {
    id: string
    project_id: string
    version: string
    state: ColumnType<State, State | undefined, State>
    url: Nullable<string>
    ref: Nullable<string>
    created_at: Time
    released_at: NullableTime
    first_seen_at: NullableTime
    last_seen_at: NullableTime
    first_event_at: NullableTime
    last_event_at: NullableTime
    first_session_at: NullableTime
    last_session_at: NullableTime
    dated_at: ColumnType<Date, never, never>
    version_key: ColumnType<string, never, never>
  }
  release_commits: {
    release_id: string
    project_id: string
    sha: string
    position: number
    repository: Nullable<string>
    message: Nullable<string>
    author_name: Nullable<string>
    author_email: Nullable<string>
    committed_at: NullableTime
    files: NullableJsonText
  }
  deploys: {
    id: string
    release_id: string
    project_id: string
    environment: string
    name: Nullable<string>
    url: Nullable<string>
    started_at: NullableTime
    finished_at: NullableTime
    created_at: Time
  }
}
