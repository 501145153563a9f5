import type { Insertable, Updateable } from 'kysely'
import type { TriggerType } from '#shared/alert-rules.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** Rules of alerts and their actions. */

const rules = (db: Connection, orgId: string) =>
  db
    .selectFrom('alert_rules as r')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .leftJoin('users as u', 'u.id', 'r.created_by')
    .where('r.org_id', '=', orgId)
    .where('r.deleted_at', 'is', null)
    .selectAll('r')
    .select(['p.name as project_name', 'p.slug as project_slug', 'p.platform as project_platform', 'u.name as creator'])
    .select((eb) =>
      eb
        .selectFrom('fired_alerts as f')
        .select((count) => count.fn.countAll<number>().as('n'))
        .whereRef('f.rule_id', '=', 'r.id')
        .where('f.state', '=', 'firing')
        .as('firing_count'),
    )

export type RuleRow = NonNullable<Awaited<ReturnType<typeof selectRule>>>

export const selectRule = (db: Connection, { orgId }: OrgActor, ruleId: string) =>
  rules(db, orgId).where('r.id', '=', ruleId).executeTakeFirst()

type RuleListing = { readonly projectId: string | null; readonly limit: number; readonly offset: number }

/** Newest first. */
export function selectRules(db: Connection, { orgId }: OrgActor, { projectId, limit, offset }: RuleListing) {
  let query = rules(db, orgId)
  if (projectId !== null) query = query.where('r.project_id', '=', projectId)
  return query.orderBy('r.created_at', 'desc').orderBy('r.id', 'desc').limit(limit).offset(offset).execute()
}

export async function countRules(db: Connection, { orgId }: OrgActor, projectId: string | null): Promise<number> {
  let query = db
    .selectFrom('alert_rules as r')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('r.org_id', '=', orgId)
    .where('r.deleted_at', 'is', null)
  if (projectId !== null) query = query.where('r.project_id', '=', projectId)
  return (await query.executeTakeFirstOrThrow()).n
}

/** Transactions that create a rule in the project after this one count its additions. False when there is no such project. */
export async function lockProjectForRules(tx: Tx, orgId: string, projectId: string): Promise<boolean> {
  const { rows } = await tx.query(
    'select 1 from projects p where p.org_id = $1 and p.id = $2 and pg_advisory_xact_lock(hashtextextended($2::text, 35)) is not null',
    [orgId, projectId],
  )
  return rows.length > 0
}

export const insertRule = (tx: Tx, rule: Insertable<Tables['alert_rules']>) =>
  tx.insertInto('alert_rules').values(rule).execute()

/** Locks a rule. */
export const lockRule = (tx: Tx, { orgId }: OrgActor, ruleId: string) =>
  tx
    .selectFrom('alert_rules as r')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .selectAll('r')
    .where('r.org_id', '=', orgId)
    .where('r.id', '=', ruleId)
    .where('r.deleted_at', 'is', null)
    .forNoKeyUpdate('r')
    .executeTakeFirst()

export const changeRule = (tx: Tx, ruleId: string, change: Updateable<Tables['alert_rules']>) =>
  tx.updateTable('alert_rules').set(change).where('id', '=', ruleId).execute()

/** Rules that were deleted before this time, with their actions. Locked. */
export async function lockDeletedRules(tx: Tx, before: Date, max: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    'select id from alert_rules where deleted_at < $1 order by id limit $2 for update skip locked',
    [before, max],
  )
  return rows.map(({ id }) => id)
}

export const deleteRuleRows = (tx: Tx, ruleIds: readonly string[]) =>
  tx.deleteFrom('alert_rules').where('id', 'in', ruleIds).execute()

export type ActionRow = Awaited<ReturnType<typeof selectActions>>[number]

export const selectActions = (db: Connection, ruleIds: readonly string[]) =>
  db
    .selectFrom('alert_actions')
    .selectAll()
    .where('rule_id', 'in', ruleIds)
    .orderBy('rule_id')
    .orderBy('is_escalation')
    .orderBy('position')
    .execute()

export const insertActions = (tx: Tx, actions: Insertable<Tables['alert_actions']>[]) =>
  tx.insertInto('alert_actions').values(actions).execute()

export const changeAction = (tx: Tx, id: string, change: Updateable<Tables['alert_actions']>) =>
  tx.updateTable('alert_actions').set(change).where('id', '=', id).execute()

export const deleteActions = (tx: Tx, ids: readonly string[]) =>
  tx.deleteFrom('alert_actions').where('id', 'in', ids).execute()

/** Ids of the actions of a project's rules: their lanes are closed with it. */
export async function actionIdsOfProject(tx: Tx, projectId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('alert_actions as a')
    .innerJoin('alert_rules as r', 'r.id', 'a.rule_id')
    .select('a.id')
    .where('r.project_id', '=', projectId)
    .where('a.type', '<>', 'email')
    .execute()
  return rows.map(({ id }) => id)
}

/** A rule as firing needs it. */
export type ListeningRule = {
  readonly id: string
  readonly org_id: string
  readonly project_id: string
  readonly trigger_type: TriggerType
  readonly conditions: unknown
}

/** Enabled rules of these projects and triggers. */
export async function rulesListening(
  tx: Connection,
  projectIds: readonly string[],
  triggers: readonly TriggerType[],
): Promise<ListeningRule[]> {
  const { rows } = await tx.query<ListeningRule>({
    name: 'alerts-rules-listening',
    text: `select id, org_id, project_id, trigger_type, conditions from alert_rules
           where enabled and project_id = any ($1::uuid[]) and trigger_type = any ($2::text[]) order by id`,
    values: [projectIds, triggers],
  })
  return rows
}

/** Rules whose condition is to be evaluated for this minute, and was not yet. A clock that went back starts again. */
export async function rulesToEvaluate(db: Connection, triggers: readonly TriggerType[], minute: Date) {
  const { rows } = await db.query<ListeningRule>({
    name: 'alerts-rules-to-evaluate',
    text: `select r.id, r.org_id, r.project_id, r.trigger_type, r.conditions
           from alert_rules r join projects p on p.id = r.project_id
           where r.enabled and r.trigger_type = any ($1::text[])
             and (r.evaluated_minute is null or r.evaluated_minute < $2 or r.evaluated_minute > $2 + interval '5 minutes')
           order by r.id`,
    values: [triggers, minute],
  })
  return rows
}

/** Claims the evaluation of rules for a minute; those that another worker has evaluated, or that changed, are missing. */
export async function claimMinute(tx: Tx, ruleIds: readonly string[], minute: Date): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'alerts-claim-minute',
    text: `update alert_rules r set evaluated_minute = $2
           from (select id from alert_rules where id = any ($1::uuid[]) order by id for no key update) due
           where r.id = due.id and r.enabled
             and (r.evaluated_minute is null or r.evaluated_minute < $2 or r.evaluated_minute > $2 + interval '5 minutes')
           returning r.id`,
    values: [ruleIds, minute],
  })
  return new Set(rows.map(({ id }) => id))
}

/** Adds events of issues by minute. */
export async function addIssueMinutes(
  tx: Tx,
  rows: readonly { projectId: string; issueId: string; minute: Date; events: number }[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'alerts-add-issue-minutes',
    text: `insert into alert_issue_minutes (project_id, issue_id, minute, events)
           select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::int[]) order by 2, 3
           on conflict (issue_id, minute) do update set events = alert_issue_minutes.events + excluded.events`,
    values: [
      rows.map(({ projectId }) => projectId),
      rows.map(({ issueId }) => issueId),
      rows.map(({ minute }) => minute),
      rows.map(({ events }) => events),
    ],
  })
}

/** Locks rules, so that their counts of the minute are right. */
export async function lockRules(tx: Tx, ruleIds: readonly string[]): Promise<void> {
  await tx.query({
    name: 'alerts-lock-rules',
    text: 'select 1 from alert_rules where id = any ($1::uuid[]) order by id for no key update',
    values: [ruleIds],
  })
}

/** The newest attempt of an action. */
type ActionHealth = {
  readonly id: string
  readonly status: number | null
  readonly at: Date
  readonly isOk: boolean
}

/** Locks actions in the order of their ids. */
export async function writeActionHealth(tx: Tx, actions: readonly ActionHealth[]): Promise<void> {
  await tx.query({
    name: 'alerts-action-health',
    text: `update alert_actions a set last_status = k.status, last_attempt_at = k.at, last_ok = k.is_ok
      from (
        select a.id, h.status, h.at, h.is_ok
        from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::boolean[]) as h (id, status, at, is_ok)
        join alert_actions a on a.id = h.id order by a.id for no key update of a
      ) k where a.id = k.id`,
    values: [
      actions.map(({ id }) => id),
      actions.map(({ status }) => status),
      actions.map(({ at }) => at),
      actions.map(({ isOk }) => isOk),
    ],
  })
}

export const ALERT_ROWS = ownRows('fired_alerts')
export const ISSUE_MINUTE_ROWS = ownRows('alert_issue_minutes')
export const SUBJECT_ROWS = ownRows('alert_subjects')

export const ALERT_PARTS = [
  projectPart(500, [ALERT_ROWS, ISSUE_MINUTE_ROWS]),
  projectPart(500, [ownRows('alert_rules')], {
    cascades: ['alert_actions', 'alert_subjects', 'alert_summaries', 'alert_deliveries', 'alert_mail_mutes'],
  }),
]
