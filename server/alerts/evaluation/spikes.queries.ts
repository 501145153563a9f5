import type { IssueStatusName } from '#shared/issue-values.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** Events of issues within windows, and what is usual. */

type SpikeQuestion = {
  readonly ruleId: string
  readonly projectId: string
  readonly threshold: number
  readonly windowMinutes: number
  /** As stored; 0 for any. */
  readonly minSeverity: number
}

export type SpikeRow = {
  readonly rule_id: string
  readonly issue_id: string
  readonly title: string
  readonly number: number
  readonly slug: string
  readonly events: number
  /** Events at the same time on the last 7 days. */
  readonly usual: number
  readonly status: IssueStatusName
  readonly status_reason: string | null
  readonly status_changed_at: Date
}

/** Maximum number of issues of one rule: the ones with the most events. */
const MAX_ISSUES = 500

/**
 * Issues with as many events as the threshold that are neither resolved nor ignored, and those among `subjects` with any number. The usual number is the median
 * of the same hours of the last seven days, for the length of the window.
 * @param subjects issues with an open alert, by rule
 */
export async function readSpikes(
  db: Connection,
  questions: readonly SpikeQuestion[],
  subjects: readonly { readonly ruleId: string; readonly subject: string }[],
  at: Date,
): Promise<SpikeRow[]> {
  const { rows } = await db.query<SpikeRow>({
    name: 'spikes-read',
    text: `
      with rules as (
        select * from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::int[], $5::smallint[])
          r (rule_id, project_id, threshold, minutes, min_severity)
      ), counted as (
        select r.rule_id, r.minutes, c.issue_id, c.events from rules r cross join lateral (
          select m.issue_id, m.events from (
            select m.issue_id, sum(m.events)::int as events from alert_issue_minutes m
            where m.project_id = r.project_id
              and m.minute > $6::timestamptz - make_interval(mins => r.minutes) and m.minute <= $6
            group by m.issue_id having sum(m.events) >= r.threshold
          ) m
          join issues i on i.id = m.issue_id and i.status not in ('resolved', 'ignored') and i.merged_into is null
          order by 2 desc limit ${MAX_ISSUES}
        ) c
        union
        select r.rule_id, r.minutes, o.issue_id, coalesce(c.events, 0)
        from unnest($7::uuid[], $8::uuid[]) o (rule_id, issue_id) join rules r on r.rule_id = o.rule_id
        left join lateral (
          select sum(m.events)::int as events from alert_issue_minutes m
          where m.issue_id = o.issue_id
            and m.minute > $6::timestamptz - make_interval(mins => r.minutes) and m.minute <= $6
        ) c on true
      )
      select c.rule_id, c.issue_id, i.title, i.number, p.slug, c.events, u.usual, i.status, i.status_reason, i.status_changed_at
      from counted c
      join rules r on r.rule_id = c.rule_id
      join issues i on i.id = c.issue_id and i.severity >= r.min_severity and i.merged_into is null
      join projects p on p.id = i.project_id
      cross join lateral (
        select percentile_cont(0.5) within group (order by d.events) as usual from (
          select coalesce(sum(h.events), 0)::float8 * c.minutes / 60
                   / (1 + extract(epoch from date_trunc('hour', t.to_hour) - date_trunc('hour', t.from_hour)) / 3600) as events
          from generate_series(1, 7) day
          cross join lateral (
            select $6::timestamptz - make_interval(days => day) as to_hour,
                   $6::timestamptz - make_interval(days => day, mins => greatest(c.minutes - 60, 0)) as from_hour
          ) t
          left join issue_groups g on g.issue_id = c.issue_id
          left join issue_hours h on h.group_id = g.id
            and h.hour >= date_trunc('hour', t.from_hour) and h.hour <= date_trunc('hour', t.to_hour)
          group by day, t.from_hour, t.to_hour
        ) d
      ) u
      order by c.rule_id, c.events desc`,
    values: [
      questions.map((q) => q.ruleId),
      questions.map((q) => q.projectId),
      questions.map((q) => q.threshold),
      questions.map((q) => q.windowMinutes),
      questions.map((q) => q.minSeverity),
      at,
      subjects.map(({ ruleId }) => ruleId),
      subjects.map(({ subject }) => subject),
    ],
  })
  return rows
}

export type HourRow = { readonly issue_id: string; readonly hour: Date; readonly events: number }

/** Events by hour of issues that had at least `min` events in an hour since `from`, and their hours since `since`. */
export async function readHours(
  db: Connection,
  projectId: string,
  { min, since, from, to, minSeverity }: { min: number; since: Date; from: Date; to: Date; minSeverity: number },
): Promise<HourRow[]> {
  const { rows } = await db.query<HourRow>({
    name: 'spikes-read-hours',
    text: `
      with busy as (
        select g.issue_id from issue_groups g
        join issues i on i.id = g.issue_id and i.project_id = $1 and i.severity >= $6 and i.last_seen >= $4
        join issue_hours h on h.group_id = g.id and h.hour >= $4 and h.hour < $5
        group by g.issue_id having max(h.events) >= $2
        order by max(h.events) desc limit 200
      )
      select g.issue_id, h.hour, sum(h.events)::int as events
      from busy join issue_groups g on g.issue_id = busy.issue_id
      join issue_hours h on h.group_id = g.id and h.hour >= $3 and h.hour < $5
      group by 1, 2 order by 1, 2`,
    values: [projectId, min, since, from, to, minSeverity],
  })
  return rows
}
