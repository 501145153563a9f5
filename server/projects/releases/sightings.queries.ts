import { newId } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'

/** When a release was seen, by kind of item. */
export type SeenRelease = {
  readonly projectId: string
  readonly version: string
  firstAt: Date
  lastAt: Date
  readonly times: Partial<Record<'event' | 'session' | 'transaction', { first: Date; last: Date }>>
}

/** A release that is new, was opened, or got its first event or session. */
type ReleaseChange = {
  readonly orgId: string
  readonly projectId: string
  readonly releaseId: string
  readonly version: string
  readonly isNew: boolean
}

/**
 * Inserts releases that are new and widens the times of known ones, in the order given. A project may get `limit.max` new
 * releases since `limit.since`; further ones are skipped.
 * @returns releases that are new, were opened, or got their first event or session
 */
export async function writeSightings(
  tx: Tx,
  now: Date,
  rows: readonly SeenRelease[],
  limit: { readonly max: number; readonly since: Date },
): Promise<ReleaseChange[]> {
  const written = await tx.query<{ id: string; project_id: string; org_id: string; version: string; is_new: boolean }>({
    name: 'releases-record-sightings',
    text: `with k as (
             select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[])
               with ordinality k (id, project_id, version, first_at, last_at, first_event, last_event, first_session, last_session, place)),
           before as (select r.id, r.state, r.first_event_at, r.first_session_at from k join releases r using (project_id, version)),
           written as (
           insert into releases as r (id, project_id, version, state, created_at, first_seen_at, last_seen_at,
             first_event_at, last_event_at, first_session_at, last_session_at)
           select k.id, k.project_id, k.version, 'open', $10::timestamptz, k.first_at, k.last_at, k.first_event, k.last_event, k.first_session, k.last_session
           from k
           join projects p on p.id = k.project_id
           where exists (select from releases o where o.project_id = k.project_id and o.version = k.version)
             or (select count(*) from releases o where o.project_id = k.project_id and o.created_at >= $11::timestamptz) < $12
           order by k.place
           on conflict (project_id, version) do update set
             state = case when r.state = 'planned' then 'open' else r.state end,
             first_seen_at = least(r.first_seen_at, excluded.first_seen_at),
             last_seen_at = greatest(r.last_seen_at, excluded.last_seen_at),
             first_event_at = least(r.first_event_at, excluded.first_event_at),
             last_event_at = greatest(r.last_event_at, excluded.last_event_at),
             first_session_at = least(r.first_session_at, excluded.first_session_at),
             last_session_at = greatest(r.last_session_at, excluded.last_session_at)
           returning r.id, r.project_id, r.version, xmax = 0 as is_new, r.state, r.first_event_at, r.first_session_at)
           select w.id, w.project_id, p.org_id, w.version, w.is_new from written w
           join projects p on p.id = w.project_id
           left join before b on b.id = w.id
           where b.id is null or b.state <> w.state or (b.first_event_at is null and w.first_event_at is not null)
             or (b.first_session_at is null and w.first_session_at is not null)`,
    values: [
      rows.map(() => newId()),
      rows.map((one) => one.projectId),
      rows.map((one) => one.version),
      rows.map((one) => one.firstAt),
      rows.map((one) => one.lastAt),
      rows.map((one) => one.times.event?.first ?? null),
      rows.map((one) => one.times.event?.last ?? null),
      rows.map((one) => one.times.session?.first ?? null),
      rows.map((one) => one.times.session?.last ?? null),
      now,
      limit.since,
      limit.max,
    ],
  })
  return written.rows.map((row) => ({
    orgId: row.org_id,
    projectId: row.project_id,
    releaseId: row.id,
    version: row.version,
    isNew: row.is_new,
  }))
}
