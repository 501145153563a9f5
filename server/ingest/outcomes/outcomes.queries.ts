import type { Tx } from '../../platform/storage/database.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

export type OutcomeRow = {
  readonly projectId: string
  readonly keyId: string
  readonly hour: Date
  readonly category: string
  readonly outcome: string
  readonly reason: string
  readonly quantity: number
}

/** Adds to hourly counts, except of deleted projects. Callers pass rows in the same order, so that they cannot deadlock. */
export async function addOutcomes(tx: Tx, rows: readonly OutcomeRow[]): Promise<void> {
  await tx.query({
    name: 'outcomes-write',
    text: `insert into outcomes_hourly (project_id, key_id, hour, category, outcome, reason, quantity)
           select k.* from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::bigint[])
             k (project_id, key_id, hour, category, outcome, reason, quantity)
           where not exists (select from project_ids d where d.id = k.project_id and d.deleted_at is not null)
           on conflict (project_id, key_id, hour, category, outcome, reason) do update set quantity = outcomes_hourly.quantity + excluded.quantity`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.keyId),
      rows.map((row) => row.hour),
      rows.map((row) => row.category),
      rows.map((row) => row.outcome),
      rows.map((row) => row.reason),
      rows.map((row) => row.quantity),
    ],
  })
}

export const COUNT_TABLES = [
  ownRows('outcomes_hourly'),
  ownRows('client_losses_hourly'),
  ownRows('flood_sampling_hourly'),
  ownRows('costly_rules_hourly'),
]

export const OUTCOME_PART = projectPart(5_000, COUNT_TABLES)
