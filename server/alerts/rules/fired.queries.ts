import { sql, type SqlBool } from 'kysely'
import type { AlertState, TriggerType, Unit } from '#shared/alert-rules.ts'
import type { SeverityName } from '#shared/issue-values.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { TimeCursor } from '../../platform/kernel/time-cursor.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/** Alerts that fired, and what was sent for them. */

// Firing

type NewAlert = {
  readonly id: string
  readonly ruleId: string
  readonly issueId: string | null
  readonly subject: string
  readonly cause: string
  readonly title: string
  readonly severity: SeverityName
  readonly value: number | null
  readonly unit: Unit | null
  readonly threshold: number | null
  readonly windowMinutes: number | null
  readonly explanation: string
}

/**
 * The gate of the cool-down: one alert per rule and subject. A last alert in the future is one of a clock that was ahead.
 * @returns `rule id/subject` of those that may fire
 */
export async function passCooldown(
  tx: Tx,
  subjects: readonly { readonly ruleId: string; readonly subject: string }[],
  at: Date,
): Promise<Set<string>> {
  const { rows } = await tx.query<{ rule_id: string; subject: string }>({
    name: 'alerts-pass-cooldown',
    text: `insert into alert_subjects as s (rule_id, subject, last_fired_at)
           select k.rule_id, k.subject, $3 from unnest($1::uuid[], $2::text[]) k (rule_id, subject)
           join alert_rules r on r.id = k.rule_id order by 1, 2
           on conflict (rule_id, subject) do update set last_fired_at = excluded.last_fired_at
           where (select s.last_fired_at <= $3 - make_interval(mins => r.cooldown_minutes)
                      or s.last_fired_at > $3 + make_interval(mins => r.cooldown_minutes)
                  from alert_rules r where r.id = s.rule_id)
           returning rule_id, subject`,
    values: [subjects.map(({ ruleId }) => ruleId), subjects.map(({ subject }) => subject), at],
  })
  return new Set(rows.map(({ rule_id, subject }) => `${rule_id}/${subject}`))
}

/** Inserts alerts whose cause is new to their rule and subject; the others are missing in the answer. */
export async function insertAlerts(tx: Tx, alerts: readonly NewAlert[], at: Date): Promise<FiredRow[]> {
  const { rows } = await tx.query<FiredRow>({
    name: 'alerts-insert',
    text: `insert into fired_alerts (id, org_id, project_id, rule_id, rule_name, close_with_issue, issue_id, subject, cause,
             trigger_type, title, severity, value, unit, threshold, window_minutes, explanation, state, fired_at, held_at)
           select k.id, r.org_id, r.project_id, r.id, r.name, r.close_with_issue, k.issue_id, k.subject, k.cause,
             r.trigger_type, k.title, k.severity, k.value, k.unit, k.threshold, k.window_minutes, k.explanation, 'firing', $13, $13
           from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[],
             $9::text[], $10::float8[], $11::int[], $12::text[])
             k (id, rule_id, issue_id, subject, cause, title, severity, value, unit, threshold, window_minutes, explanation)
           join alert_rules r on r.id = k.rule_id
           order by k.id
           on conflict (rule_id, subject, cause) do nothing
           returning id, org_id, project_id, rule_id, issue_id, severity, title`,
    values: [
      alerts.map((a) => a.id),
      alerts.map((a) => a.ruleId),
      alerts.map((a) => a.issueId),
      alerts.map((a) => a.subject),
      alerts.map((a) => a.cause),
      alerts.map((a) => a.title),
      alerts.map((a) => a.severity),
      alerts.map((a) => a.value),
      alerts.map((a) => a.unit),
      alerts.map((a) => a.threshold),
      alerts.map((a) => a.windowMinutes),
      alerts.map((a) => a.explanation),
      at,
    ],
  })
  return rows
}

export type FiredRow = {
  readonly id: string
  readonly org_id: string
  readonly project_id: string
  readonly rule_id: string
  readonly issue_id: string | null
  readonly severity: SeverityName
  readonly title: string
}

/**
 * Counts alerts of rules in this minute, and locks the rules until the transaction ends.
 * @returns how many alerts each rule has in the minute, with these
 */
export async function countInMinute(
  tx: Tx,
  counts: ReadonlyMap<string, number>,
  minute: Date,
  at: Date,
): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ id: string; fired_in_minute: number }>({
    name: 'alerts-count-in-minute',
    text: `update alert_rules r set
             fired_in_minute = case when r.fired_minute = $3 then r.fired_in_minute else 0 end + k.n,
             fired_minute = $3, last_fired_at = $4
           from (select r.id, k.n from unnest($1::uuid[], $2::int[]) k (id, n) join alert_rules r on r.id = k.id
                 order by r.id for no key update of r) k
           where r.id = k.id returning r.id, r.fired_in_minute`,
    values: [[...counts.keys()], [...counts.values()], minute, at],
  })
  return new Map(rows.map((row) => [row.id, row.fired_in_minute]))
}

/** The further alerts of a rule in a minute, for which one summary is sent. */
export async function addToSummary(
  tx: Tx,
  alerts: readonly { readonly id: string; readonly ruleId: string }[],
  minute: Date,
): Promise<void> {
  await tx.query({
    name: 'alerts-add-to-summary',
    text: 'update fired_alerts set summary_minute = $2 where id = any ($1::uuid[])',
    values: [alerts.map(({ id }) => id), minute],
  })
  await tx.query({
    name: 'alerts-open-summary',
    text: `insert into alert_summaries (rule_id, minute) select distinct k, $2::timestamptz from unnest($1::uuid[]) k order by 1
           on conflict do nothing`,
    values: [alerts.map(({ ruleId }) => ruleId), minute],
  })
}

/** Sets when alerts escalate, by their rules. */
export async function planEscalations(tx: Tx, alertIds: readonly string[]): Promise<void> {
  await tx.query({
    name: 'alerts-plan-escalations',
    text: `update fired_alerts f set escalates_at = f.fired_at + make_interval(mins => r.escalate_after_minutes)
           from alert_rules r where f.id = any ($1::uuid[]) and r.id = f.rule_id and r.escalate_after_minutes is not null`,
    values: [alertIds],
  })
}

// Reading

const alerts = (db: Connection, orgId: string) =>
  db
    .selectFrom('fired_alerts as f')
    .innerJoin('projects as p', 'p.id', 'f.project_id')
    .leftJoin('issues as i', 'i.id', 'f.issue_id')
    .leftJoin('users as u', 'u.id', 'f.acknowledged_by')
    .where('f.org_id', '=', orgId)

const alertColumns = [
  'p.name as project_name',
  'p.slug as project_slug',
  'p.platform as project_platform',
  'i.number as issue_number',
  'i.title as issue_title',
  'u.name as acknowledger',
] as const

export type AlertRow = NonNullable<Awaited<ReturnType<typeof selectAlert>>>

export const selectAlert = (db: Connection, { orgId }: OrgActor, alertId: string) =>
  alerts(db, orgId).selectAll('f').select(alertColumns).where('f.id', '=', alertId).executeTakeFirst()

type AlertFilter = {
  readonly projectId: string | null
  readonly ruleId: string | null
  readonly issueId: string | null
  readonly states: readonly AlertState[] | null
  readonly from: Date | null
  readonly to: Date | null
}

const matching = (db: Connection, { orgId }: OrgActor, filter: AlertFilter) => {
  let query = alerts(db, orgId)
  if (filter.projectId !== null) query = query.where('f.project_id', '=', filter.projectId)
  if (filter.ruleId !== null) query = query.where('f.rule_id', '=', filter.ruleId)
  if (filter.issueId !== null) query = query.where('f.issue_id', '=', filter.issueId)
  if (filter.states !== null) query = query.where('f.state', 'in', filter.states)
  if (filter.from !== null) query = query.where('f.fired_at', '>=', filter.from)
  if (filter.to !== null) query = query.where('f.fired_at', '<', filter.to)
  return query
}

/** Newest first. */
export function selectAlerts(
  db: Connection,
  actor: OrgActor,
  filter: AlertFilter,
  page: { readonly limit: number; readonly offset: number; readonly after: TimeCursor | null },
) {
  let query = matching(db, actor, filter).selectAll('f').select(alertColumns)
  const { after } = page
  if (after !== null)
    query = query.where(sql<SqlBool>`(f.fired_at, f.id) < (${after.at}::timestamptz, ${after.id}::uuid)`)
  return query.orderBy('f.fired_at', 'desc').orderBy('f.id', 'desc').limit(page.limit).offset(page.offset).execute()
}

/** At most `max`. */
export async function countAlerts(db: Connection, actor: OrgActor, filter: AlertFilter, max: number): Promise<number> {
  const { n } = await db
    .selectFrom(matching(db, actor, filter).select('f.id').limit(max).as('some'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

export type SentRow = Awaited<ReturnType<typeof selectSent>>[number]

/** Messages that were sent for alerts, oldest first; with the deliveries that the outbox still has. */
export const selectSent = (db: Connection, alertIds: readonly string[]) =>
  db
    .selectFrom('alert_deliveries as a')
    .leftJoin('outbox_deliveries as d', 'd.id', 'a.delivery_id')
    .where('a.alert_id', 'in', alertIds)
    .select([
      'a.alert_id',
      'a.action_id',
      'a.action_type',
      'a.target',
      'a.purpose',
      'a.delivery_id',
      'a.skipped',
      'a.created_at',
      'd.state',
      'd.attempts_made',
      'd.last_status',
      'd.last_error_code',
      'd.last_duration_ms',
      'd.next_attempt_at',
      'd.reason',
      'd.delivered_at',
    ])
    .orderBy('a.alert_id')
    .orderBy('a.n')
    .execute()

// Changing

export type LockedAlert = {
  readonly id: string
  readonly org_id: string
  readonly project_id: string
  readonly rule_id: string
  readonly issue_id: string | null
  readonly state: AlertState
  readonly title: string
  readonly trigger_type: TriggerType
  readonly summary_minute: Date | null
}

const LOCKED = 'f.id, f.org_id, f.project_id, f.rule_id, f.issue_id, f.state, f.title, f.trigger_type, f.summary_minute'

export async function lockAlert(tx: Tx, { orgId }: OrgActor, alertId: string): Promise<LockedAlert | undefined> {
  const { rows } = await tx.query<LockedAlert>(
    `select ${LOCKED} from fired_alerts f join projects p on p.id = f.project_id
     where f.org_id = $1 and f.id = $2 for no key update of f`,
    [orgId, alertId],
  )
  return rows[0]
}

export async function markAcknowledged(tx: Tx, alertId: string, userId: string | null, at: Date): Promise<void> {
  await tx.query(
    `update fired_alerts set state = 'acknowledged', acknowledged_by = $2, acknowledged_at = $3, escalates_at = null where id = $1`,
    [alertId, userId, at],
  )
}

const OPEN = `f.state in ('firing', 'acknowledged')`

/** Open alerts of issues whose rules close them with the issue. Locked. */
export async function lockOpenOfIssues(tx: Tx, issueIds: readonly string[]): Promise<LockedAlert[]> {
  const { rows } = await tx.query<LockedAlert>({
    name: 'alerts-lock-open-of-issues',
    text: `select ${LOCKED} from fired_alerts f where f.issue_id = any ($1::uuid[]) and ${OPEN} and f.close_with_issue
           order by f.id for no key update`,
    values: [issueIds],
  })
  return rows
}

/** Open alerts of rules. Locked. */
export async function lockOpenOfRules(tx: Tx, ruleIds: readonly string[]): Promise<LockedAlert[]> {
  const { rows } = await tx.query<LockedAlert>({
    name: 'alerts-lock-open-of-rules',
    text: `select ${LOCKED} from fired_alerts f where f.rule_id = any ($1::uuid[]) and ${OPEN} order by f.id for no key update`,
    values: [ruleIds],
  })
  return rows
}

/** Open alerts whose condition was last seen to hold before this time, and that were not acknowledged since. Locked. */
export async function lockForgotten(tx: Tx, before: Date, max: number): Promise<LockedAlert[]> {
  const { rows } = await tx.query<LockedAlert>({
    name: 'alerts-lock-forgotten',
    text: `select ${LOCKED} from fired_alerts f
           where ${OPEN} and f.held_at < $1 and (f.acknowledged_at is null or f.acknowledged_at < $1)
           order by f.id limit $2 for no key update skip locked`,
    values: [before, max],
  })
  return rows
}

/** Ends alerts, each with its reason. */
export async function markEnded(
  tx: Tx,
  ids: readonly string[],
  state: 'resolved' | 'expired',
  reason: string,
  at: Date,
): Promise<void> {
  await tx.query({
    name: 'alerts-mark-ended',
    text: `update fired_alerts set state = $2, resolved_reason = $3, resolved_at = $4, escalates_at = null
           where id = any ($1::uuid[])`,
    values: [ids, state, reason, at],
  })
}

/** An open alert of a rule whose condition is evaluated. */
export type OpenAlert = LockedAlert & { readonly subject: string; readonly cause: string; readonly held_at: Date }

/** Open alerts of rules that every minute evaluates. Locked. */
export async function lockOpenEvaluated(tx: Tx, ruleIds: readonly string[]): Promise<OpenAlert[]> {
  const { rows } = await tx.query<OpenAlert>({
    name: 'alerts-lock-open-evaluated',
    text: `select ${LOCKED}, f.subject, f.cause, f.held_at from fired_alerts f
           where f.rule_id = any ($1::uuid[]) and ${OPEN} order by f.id for no key update`,
    values: [ruleIds],
  })
  return rows
}

export async function markHeld(
  tx: Tx,
  held: readonly { readonly id: string; readonly value: number | null; readonly explanation: string }[],
  at: Date,
): Promise<void> {
  if (held.length === 0) return
  await tx.query({
    name: 'alerts-mark-held',
    text: `update fired_alerts f set held_at = $4, value = k.value, explanation = k.explanation
           from unnest($1::uuid[], $2::float8[], $3::text[]) k (id, value, explanation) where f.id = k.id`,
    values: [held.map(({ id }) => id), held.map(({ value }) => value), held.map(({ explanation }) => explanation), at],
  })
}

/** Alerts that were not acknowledged in time, but not of issues that are resolved or ignored meanwhile. Locked. */
export async function lockEscalating(tx: Tx, at: Date, max: number): Promise<LockedAlert[]> {
  const { rows } = await tx.query<LockedAlert>({
    name: 'alerts-lock-escalating',
    text: `select ${LOCKED} from fired_alerts f where f.escalates_at <= $1 and f.state = 'firing'
             and not exists (select from issues i where i.id = f.issue_id and i.status in ('resolved', 'ignored'))
           order by f.id limit $2 for no key update skip locked`,
    values: [at, max],
  })
  return rows
}

export async function markEscalated(tx: Tx, ids: readonly string[], at: Date): Promise<void> {
  await tx.query('update fired_alerts set escalated_at = $2, escalates_at = null where id = any ($1::uuid[])', [
    ids,
    at,
  ])
}

type DueSummary = {
  readonly rule_id: string
  readonly minute: Date
}

/** Summaries of minutes that have ended. Claimed: another worker does not get them. */
export async function claimSummaries(tx: Tx, before: Date, max: number): Promise<DueSummary[]> {
  const { rows } = await tx.query<DueSummary>({
    name: 'alerts-claim-summaries',
    text: `delete from alert_summaries where (rule_id, minute) in (
             select rule_id, minute from alert_summaries where minute < $1 order by 1, 2 limit $2 for update skip locked)
           returning rule_id, minute`,
    values: [before, max],
  })
  return rows
}

/** Ids of the alerts that a summary stands for, newest first, and how many of them are open. */
export async function alertsOfSummary(
  tx: Connection,
  ruleId: string,
  minute: Date,
): Promise<{ ids: string[]; open: number; from: Date; to: Date } | null> {
  const { rows } = await tx.query<{ id: string; is_open: boolean; fired_at: Date }>({
    name: 'alerts-of-summary',
    text: `select f.id, ${OPEN} as is_open, f.fired_at from fired_alerts f
           where f.rule_id = $1 and f.summary_minute = $2 order by f.fired_at desc, f.id desc`,
    values: [ruleId, minute],
  })
  const [newest, oldest] = [rows[0], rows.at(-1)]
  if (newest === undefined || oldest === undefined) return null
  return {
    ids: rows.map(({ id }) => id),
    open: rows.filter(({ is_open }) => is_open).length,
    from: oldest.fired_at,
    to: newest.fired_at,
  }
}

/** Records messages that were sent, or not, for alerts. */
export async function insertSent(
  tx: Tx,
  sent: readonly {
    readonly alertId: string
    readonly actionId: string | null
    readonly actionType: string
    readonly target: string
    readonly purpose: string
    readonly deliveryId: string | null
    readonly skipped: string | null
  }[],
  at: Date,
): Promise<void> {
  if (sent.length === 0) return
  await tx.query({
    name: 'alerts-insert-sent',
    text: `insert into alert_deliveries (alert_id, action_id, action_type, target, purpose, delivery_id, skipped, created_at)
           select *, $8 from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])`,
    values: [
      sent.map((s) => s.alertId),
      sent.map((s) => s.actionId),
      sent.map((s) => s.actionType),
      sent.map((s) => s.target),
      sent.map((s) => s.purpose),
      sent.map((s) => s.deliveryId),
      sent.map((s) => s.skipped),
      at,
    ],
  })
}

/** Everything a message about alerts says, and the actions that send it. */
export async function selectForMessages(tx: Connection, alertIds: readonly string[]) {
  return tx
    .selectFrom('fired_alerts as f')
    .innerJoin('projects as p', 'p.id', 'f.project_id')
    .leftJoin('alert_rules as r', 'r.id', 'f.rule_id')
    .leftJoin('issues as i', 'i.id', 'f.issue_id')
    .leftJoin('users as u', 'u.id', 'f.acknowledged_by')
    .leftJoin('memberships as m', (join) =>
      join.onRef('m.user_id', '=', 'i.assignee_id').onRef('m.org_id', '=', 'f.org_id').on('m.disabled_at', 'is', null),
    )
    .leftJoin('users as w', 'w.id', 'm.user_id')
    .where('f.id', 'in', alertIds)
    .selectAll('f')
    .select([
      'p.name as project_name',
      'p.slug as project_slug',
      'p.platform as project_platform',
      'u.name as acknowledger',
      'i.number as issue_number',
      'i.title as issue_title',
      'i.culprit',
      'i.level',
      'i.status as issue_status',
      'i.severity as issue_severity',
      'i.event_count',
      'i.user_count',
      'i.first_seen',
      'i.last_seen',
      'i.last_release',
      'w.id as assignee_id',
      'w.name as assignee_name',
    ])
    .orderBy('f.id')
    .execute()
}
export type AlertForMessage = Awaited<ReturnType<typeof selectForMessages>>[number]

/** Issues as their firing alerts name them. */
export async function selectIssuesOfFacts(tx: Connection, issueIds: readonly string[]) {
  if (issueIds.length === 0) return []
  return tx
    .selectFrom('issues as i')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .where('i.id', 'in', issueIds)
    .select([
      'i.id',
      'i.project_id',
      'i.number',
      'i.title',
      'i.severity',
      'i.status',
      'i.last_release',
      'i.last_event_id',
      'i.created_at',
      'i.event_count',
      'i.user_count',
      'p.slug as project_slug',
      'p.name as project_name',
    ])
    .execute()
}
export type IssueOfFact = Awaited<ReturnType<typeof selectIssuesOfFacts>>[number]

export type OpenSubject = { readonly ruleId: string; readonly subject: string; readonly closesWithIssue: boolean }

/** Subjects of open alerts, and whether a rule closes them with their issue. */
export async function openSubjects(db: Connection, ruleIds: readonly string[]): Promise<OpenSubject[]> {
  const { rows } = await db.query<OpenSubject>({
    name: 'alerts-open-subjects',
    text: `select f.rule_id as "ruleId", f.subject, bool_and(f.close_with_issue) as "closesWithIssue"
           from fired_alerts f where f.rule_id = any ($1::uuid[]) and ${OPEN} group by 1, 2`,
    values: [ruleIds],
  })
  return rows
}

/** Why deliveries were not sent. */
export async function markSkipped(
  tx: Tx,
  skipped: readonly { readonly deliveryId: string; readonly reason: string }[],
): Promise<void> {
  if (skipped.length === 0) return
  await tx.query({
    name: 'alerts-mark-skipped',
    text: `update alert_deliveries s set skipped = k.reason
      from unnest($1::text[], $2::text[]) as k (delivery_id, reason) where s.delivery_id = k.delivery_id`,
    values: [skipped.map(({ deliveryId }) => deliveryId), skipped.map(({ reason }) => reason)],
  })
}

/** Deletes the alerts of issues with what they say about their deliveries. */
export async function deleteAlertsOfIssues(tx: Tx, orgId: string, issueIds: readonly string[]): Promise<void> {
  await tx.query('delete from fired_alerts where org_id = $1 and issue_id = any ($2::uuid[])', [orgId, issueIds])
}
