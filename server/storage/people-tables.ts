import type { ColumnType } from 'kysely'

/** Row types of migrations/0020_people.sql and of what people say (0004), a part of {@link Tables} (tables.ts). */

type Time = ColumnType<Date, Date, Date>
type NullableTime = ColumnType<Date | null, Date | null | undefined, Date | null>
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>

export type PeopleTables = {
  issue_activity: {
    id: string
    issue_id: string
    kind: string
    actor_id: Nullable<string>
    sentence: string
    data: ColumnType<Record<string, unknown>, string | undefined, string>
    created_at: Time
  }
  comments: {
    id: string
    issue_id: string
    author_id: Nullable<string>
    body: string
    created_at: Time
    edited_at: NullableTime
  }
  comment_mentions: { comment_id: string; written: string; user_id: string }
  issue_subscriptions: {
    issue_id: string
    user_id: string
    reason: 'manual' | 'assigned' | 'mentioned' | 'commented' | 'changed'
    is_subscribed: boolean
    changed_at: Time
  }
  inbox_entries: {
    id: string
    org_id: string
    user_id: string
    issue_id: string
    kind: 'assigned' | 'mentioned' | 'commented' | 'regressed' | 'escalated' | 'reopened'
    actor_id: Nullable<string>
    comment_id: Nullable<string>
    sentence: string
    created_at: Time
    read_at: NullableTime
  }
}
