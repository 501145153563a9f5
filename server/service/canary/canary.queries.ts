import { CANARY_PROJECT_ID } from '../../platform/kernel/ids.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { NewestRun, Verdict } from './judge.ts'
import type { CanaryReport } from './canary.api.ts'
import { titleOfRun } from './test-event.ts'

/** The state of the canary and its runs. Times are the database's, which all processes share. */

export type Snapshot = {
  readonly verdict: Verdict
  readonly run: NewestRun | null
  /** Age of the newest run, by the clock of the database; negative after the clock was set back. */
  readonly ageMs: number
}

export async function selectSnapshot(db: Connection): Promise<Snapshot> {
  const { rows } = await db.query<
    Omit<Verdict, 'missedAfter'> &
      Omit<NewestRun, 'id' | 'isDigested' | 'isFired'> & {
        missedAfter: string | null
        id: string | null
        ageMs: number
      }
  >({
    name: 'canary-snapshot',
    text: `select c.state, c.failed_step as "failedStep", c.explanation, c.missed_after as "missedAfter",
             r.id, r.accepted_at is not null as "isAccepted", r.refusal, r.arrived_at is not null as "isArrived",
             coalesce(extract(epoch from now() - r.started_at), 0)::float8 * 1000 as "ageMs"
           from canary c left join canary_runs r on r.id = c.run_id`,
  })
  const [row] = rows
  if (row === undefined) throw new Error('The row of the canary is missing.')
  const { state, failedStep, explanation, missedAfter, id, isAccepted, refusal, isArrived, ageMs } = row
  const verdict = { state, failedStep, explanation, missedAfter }
  if (id === null) return { verdict, run: null, ageMs: 0 }
  const isOut = isAccepted && !isArrived
  const { isDigested, isFired } = isOut ? await selectProgress(db, id) : { isDigested: isArrived, isFired: isArrived }
  return { verdict, run: { id, isAccepted, refusal, isDigested, isFired, isArrived }, ageMs }
}

/** How far the event of a run came. */
async function selectProgress(db: Connection, runId: string): Promise<Pick<NewestRun, 'isDigested' | 'isFired'>> {
  const { rows } = await db.query<Pick<NewestRun, 'isDigested' | 'isFired'>>({
    name: 'canary-progress',
    text: `select count(*) > 0 as "isDigested", count(f.id) > 0 as "isFired"
           from issues i left join fired_alerts f on f.issue_id = i.id where i.project_id = $1 and i.title = $2`,
    values: [CANARY_PROJECT_ID, titleOfRun(runId)],
  })
  return rows[0] ?? { isDigested: false, isFired: false }
}

/** @returns whether it was stored: another process may have been faster */
export async function storeVerdict(tx: Tx, before: Verdict, after: Verdict): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update canary set state = $1, failed_step = $2, explanation = $3, missed_after = $4
     where state = $5 and failed_step is not distinct from $6 and explanation = $7 and missed_after is not distinct from $8`,
    [after, before].flatMap(({ state, failedStep, explanation, missedAfter }) => [
      state,
      failedStep,
      explanation,
      missedAfter,
    ]),
  )
  return rowCount === 1
}

/**
 * Starts a run, unless another process has started one since.
 * @returns whether it did
 */
export async function startRun(tx: Tx, runId: string, after: string | null): Promise<boolean> {
  const { rowCount } = await tx.query('update canary set run_id = $1 where run_id is not distinct from $2', [
    runId,
    after,
  ])
  if (rowCount !== 1) return false
  await tx.query('insert into canary_runs (id, started_at) values ($1, now())', [runId])
  return true
}

/**
 * Claims sending a run again that the intake has not accepted, and that no process has tried to send for a time.
 * @returns whether this process has it
 */
export async function restartRun(db: Connection, runId: string, afterMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update canary_runs set started_at = now() where id = $1 and accepted_at is null
       and not (started_at <= now() and started_at > now() - $2 * interval '1 millisecond')`,
    [runId, afterMs],
  )
  return rowCount === 1
}

/** @param refusal null when the intake accepted it */
export async function noteSent(db: Connection, runId: string, refusal: string | null): Promise<void> {
  await db.query(
    refusal === null
      ? { text: 'update canary_runs set accepted_at = now(), refusal = null where id = $1', values: [runId] }
      : { text: 'update canary_runs set refusal = $2 where id = $1 and accepted_at is null', values: [runId, refusal] },
  )
}

/** The intake had accepted them, also if its answer was lost. */
export async function markArrived(tx: Tx, runIds: readonly string[]): Promise<void> {
  await tx.query(
    `update canary_runs set arrived_at = now(), accepted_at = coalesce(accepted_at, now())
     where id = any ($1::uuid[]) and arrived_at is null`,
    [runIds],
  )
}

type Report = Omit<CanaryReport, 'state' | 'interval_minutes'> & { readonly state: Verdict['state'] }

export async function selectReport(db: Connection): Promise<Report> {
  const { rows } = await db.query<
    Omit<Report, 'last_started_at' | 'last_arrived_at'> & Record<'started' | 'arrived', Date | null>
  >(
    `select c.state, c.failed_step, c.explanation, r.started_at as started, a.arrived_at as arrived,
       case when a.arrived_at >= a.started_at
         then round(extract(epoch from a.arrived_at - a.started_at) * 1000)::int end as duration_ms
     from canary c left join canary_runs r on r.id = c.run_id
     left join lateral (select started_at, arrived_at from canary_runs where arrived_at is not null
                        order by id desc limit 1) a on true`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('The row of the canary is missing.')
  const { started, arrived, ...rest } = row
  return { ...rest, last_started_at: started?.toISOString() ?? null, last_arrived_at: arrived?.toISOString() ?? null }
}

/** Runs whose issues and alerts are still there: those that arrived, and those that nothing waits for any more. */
export async function selectToRemove(db: Connection): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select r.id from canary_runs r where r.removed_at is null
       and (r.arrived_at is not null or r.started_at < now() - interval '7 days') order by r.id`,
  )
  return rows.map(({ id }) => id)
}

export async function selectIssuesOfRun(db: Connection, runId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>('select id from issues where project_id = $1 and title = $2', [
    CANARY_PROJECT_ID,
    titleOfRun(runId),
  ])
  return rows.map(({ id }) => id)
}

export async function markRemoved(db: Connection, runId: string): Promise<void> {
  await db.query('update canary_runs set removed_at = now() where id = $1', [runId])
}

/** Deletes runs that are of no use any more; the newest of them stays. */
export async function deleteOldRuns(db: Connection): Promise<void> {
  await db.query(
    `delete from canary_runs r using canary c
     where r.removed_at < now() - interval '7 days' and c.run_id is distinct from r.id`,
  )
}
