import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** Coarse sort keys, as migrations/0005_issues.sql computes them (docs/decisions/issue-lists.md). */

/** Key of a count: the count itself below 8, then four steps per doubling. */
export const toCountKey = (value: RawBuilder<unknown>) =>
  sql`(case when ${value} < 8 then ${value} else floor(ln((${value})::double precision) * 5.7707801635558535 - 4) end)::smallint`

/** Key of a time: its slot of five seconds. */
export const toTimeKey = (value: RawBuilder<unknown>) =>
  sql`date_bin(interval '5 seconds', ${value}, timestamptz '1970-01-01 00:00:00+00')`

/** `i.last_seen >= since`, with the coarse key that the index holds. */
export const lastSeenSince = (since: Date): RawBuilder<SqlBool> =>
  sql<SqlBool>`(i.seen_slot >= ${toTimeKey(sql`${since}::timestamptz`)} and i.last_seen >= ${since})`
