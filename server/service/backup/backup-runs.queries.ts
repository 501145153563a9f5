import type { Connection } from '../../platform/storage/database.ts'
import type { BackupResult } from './write-backup.ts'

/** SQL of the records of backups and drills. */

/** Older records are deleted with each new one. */
const KEPT_DAYS = 400

export async function insertRun(on: Connection, run: { id: string; folder: string; startedAt: Date }): Promise<void> {
  await on.query(`delete from backup_runs where started_at < $1::timestamptz - make_interval(days => ${KEPT_DAYS})`, [
    run.startedAt,
  ])
  await on.insertInto('backup_runs').values({ id: run.id, folder: run.folder, started_at: run.startedAt }).execute()
}

export async function finishRun(
  on: Connection,
  id: string,
  finishedAt: Date,
  result: BackupResult | { readonly problem: string },
): Promise<void> {
  await on
    .updateTable('backup_runs')
    .set(
      'problem' in result
        ? { finished_at: finishedAt, problem: result.problem }
        : {
            finished_at: finishedAt,
            name: result.name,
            row_count: result.rows,
            byte_count: result.bytes,
            stored_bytes: result.storedBytes,
            written_bytes: result.writtenBytes,
          },
    )
    .where('id', '=', id)
    .execute()
}

export async function insertDrill(
  on: Connection,
  drill: {
    id: string
    folder: string
    name: string
    startedAt: Date
    finishedAt: Date
    outcome: 'restorable' | 'not_restorable' | 'not_run'
    problem: string | null
    rows: number | null
  },
): Promise<void> {
  await on.query(
    `delete from backup_drills where finished_at < $1::timestamptz - make_interval(days => ${KEPT_DAYS})`,
    [drill.startedAt],
  )
  await on
    .insertInto('backup_drills')
    .values({
      id: drill.id,
      folder: drill.folder,
      name: drill.name,
      started_at: drill.startedAt,
      finished_at: drill.finishedAt,
      outcome: drill.outcome,
      problem: drill.problem,
      row_count: drill.rows,
    })
    .execute()
}

/** When backups and drills of a folder, or of all folders, last began and last succeeded; null for never. */
export type BackupTimes = {
  readonly startedAt: Date | null
  readonly completeAt: Date | null
  readonly problem: string | null
  readonly drilledAt: Date | null
  readonly restorableAt: Date | null
  readonly drillProblem: string | null
}

export async function readBackupTimes(on: Connection, folder: string | null): Promise<BackupTimes> {
  const { rows } = await on.query<{
    started_at: Date | null
    complete_at: Date | null
    problem: string | null
    drilled_at: Date | null
    restorable_at: Date | null
    drill_problem: string | null
  }>(
    `select (select max(started_at) from backup_runs where (folder = $1 or $1::text is null)) as started_at,
       (select max(started_at) from backup_runs where (folder = $1 or $1::text is null) and name is not null) as complete_at,
       (select problem from backup_runs where (folder = $1 or $1::text is null) and finished_at is not null order by started_at desc limit 1) as problem,
       (select max(finished_at) from backup_drills where (folder = $1 or $1::text is null)) as drilled_at,
       (select max(finished_at) from backup_drills where (folder = $1 or $1::text is null) and outcome = 'restorable') as restorable_at,
       (select problem from backup_drills where (folder = $1 or $1::text is null) order by finished_at desc limit 1) as drill_problem`,
    [folder],
  )
  const [row] = rows
  return {
    startedAt: row?.started_at ?? null,
    completeAt: row?.complete_at ?? null,
    problem: row?.problem ?? null,
    drilledAt: row?.drilled_at ?? null,
    restorableAt: row?.restorable_at ?? null,
    drillProblem: row?.drill_problem ?? null,
  }
}
