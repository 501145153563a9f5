import type { Tx, Connection } from '../../platform/storage/database.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { sql } from 'kysely'
import type { ClientLoss } from '../../events/protocol/client-report.ts'

type OutcomeRow = {
  readonly projectId: string
  readonly keyId: string
  readonly hour: Date
  readonly category: string
  readonly outcome: string
  readonly reason: string
  readonly quantity: number
}

/** Adds to hourly counts, except of deleted projects. Callers pass rows in the same order, so that they cannot deadlock. */
export function addOutcomes(tx: Tx, rows: readonly OutcomeRow[]): void {
  tx.send({
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

export type FloodSamplingRow = {
  readonly projectId: string
  readonly keyId: string
  readonly hour: Date
  readonly letThrough: number
  readonly fingerprints: number
  readonly firstAt: Date
  readonly lastAt: Date
}

/** Adds to the hourly counts of flood sampling, except of deleted projects. */
export async function addFloodSampling(tx: Tx, samples: readonly FloodSamplingRow[]): Promise<void> {
  if (samples.length === 0) return
  // In a fixed order, so that two writers cannot deadlock.
  const rows = samples.toSorted((a, b) =>
    a.keyId === b.keyId ? a.hour.getTime() - b.hour.getTime() : a.keyId < b.keyId ? -1 : 1,
  )
  await tx.query(
    `insert into flood_sampling_hourly (project_id, key_id, hour, let_through, fingerprints, first_at, last_at)
     select k.* from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::timestamptz[])
       k (project_id, key_id, hour, let_through, fingerprints, first_at, last_at)
     where not exists (select from project_ids d where d.id = k.project_id and d.deleted_at is not null)
     on conflict (project_id, key_id, hour) do update set
       let_through = flood_sampling_hourly.let_through + excluded.let_through,
       fingerprints = flood_sampling_hourly.fingerprints + excluded.fingerprints,
       first_at = least(flood_sampling_hourly.first_at, excluded.first_at),
       last_at = greatest(flood_sampling_hourly.last_at, excluded.last_at)`,
    [
      rows.map((row) => row.projectId),
      rows.map((row) => row.keyId),
      rows.map((row) => row.hour),
      rows.map((row) => row.letThrough),
      rows.map((row) => row.fingerprints),
      rows.map((row) => row.firstAt),
      rows.map((row) => row.lastAt),
    ],
  )
}

export type CostlyRuleRow = {
  readonly projectId: string
  readonly hour: Date
  readonly path: string
  readonly regex: string
  requests: number
  texts: number
  readonly lastAt: Date
}

/** Adds to hourly counts. Callers pass rows in the same order, so that they cannot deadlock. */
export async function addCostlyRules(tx: Tx, rows: readonly CostlyRuleRow[]): Promise<void> {
  await tx.query({
    name: 'costly-rules-write',
    text: `insert into costly_rules_hourly (project_id, hour, path, regex, requests, texts, last_at)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::timestamptz[])
           on conflict (project_id, hour, path, regex) do update set
             requests = costly_rules_hourly.requests + excluded.requests,
             texts = costly_rules_hourly.texts + excluded.texts,
             last_at = greatest(costly_rules_hourly.last_at, excluded.last_at)`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.hour),
      rows.map((row) => row.path),
      rows.map((row) => row.regex),
      rows.map((row) => row.requests),
      rows.map((row) => row.texts),
      rows.map((row) => row.lastAt),
    ],
  })
}

const MAX_SHOWN = 50

/** By rule since a time, most recent first. */
export async function selectCostlyRules(db: Connection, projectId: string, from: Date) {
  return db
    .selectFrom('costly_rules_hourly')
    .select([
      'path',
      'regex',
      sql<number>`sum(requests)::bigint`.as('requests'),
      sql<number>`sum(texts)::bigint`.as('texts'),
      sql<Date>`max(last_at)`.as('last_at'),
    ])
    .where('project_id', '=', projectId)
    .where('hour', '>=', from)
    .groupBy(['path', 'regex'])
    .orderBy('last_at', 'desc')
    .limit(MAX_SHOWN)
    .execute()
}

export type LossRow = ClientLoss & { readonly projectId: string; readonly hour: Date }

/** Maximum combinations of kind, reason and category per project and hour; further reasons count as `other`. */
const MAX_SUMS = 200
const OTHER = 'other'

const hourKey = (row: { projectId: string; hour: Date }): string => `${row.projectId} ${row.hour.getTime()}`
const sumKey = (row: LossRow): string => `${hourKey(row)} ${row.kind} ${row.category} ${row.reason}`

/**
 * Adds losses to the hours of their projects. One process at a time digests a project, so no other transaction writes
 * between reading the existing sums and adding to them.
 */
export async function addLosses(tx: Tx, losses: readonly LossRow[]): Promise<void> {
  if (losses.length === 0) return
  const hours = new Map(losses.map((row) => [hourKey(row), row]))
  const { rows: known } = await tx.query<{
    project_id: string
    hour: Date
    kind: LossRow['kind']
    reason: string
    category: LossRow['category']
  }>({
    name: 'client-losses-known',
    text: `select project_id, hour, kind, reason, category from client_losses_hourly
           where (project_id, hour) in (select * from unnest($1::uuid[], $2::timestamptz[]))`,
    values: [[...hours.values()].map((row) => row.projectId), [...hours.values()].map((row) => row.hour)],
  })
  const sums = new Map<string, number>()
  const perHour = new Map<string, number>()
  for (const row of known) {
    const { project_id: projectId, hour, kind, reason, category } = row
    const key = hourKey({ projectId, hour })
    perHour.set(key, (perHour.get(key) ?? 0) + 1)
    sums.set(sumKey({ projectId, hour, kind, reason, category, quantity: 0 }), 0)
  }
  const rows = new Map<string, LossRow>()
  for (const given of losses) {
    let row = given
    let key = sumKey(row)
    if (!sums.has(key)) {
      const inHour = perHour.get(hourKey(row)) ?? 0
      if (inHour >= MAX_SUMS && row.reason !== OTHER) {
        row = { ...row, reason: OTHER }
        key = sumKey(row)
      }
      if (!sums.has(key)) perHour.set(hourKey(row), inHour + 1)
    }
    sums.set(key, (sums.get(key) ?? 0) + row.quantity)
    rows.set(key, row)
  }
  // In a fixed order, so that two writers cannot deadlock.
  const written = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const list = written.map(([, row]) => row)
  await tx.query({
    name: 'client-losses-add',
    text: `insert into client_losses_hourly (project_id, hour, kind, reason, category, quantity)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::bigint[])
           on conflict (project_id, hour, kind, reason, category) do update set quantity = client_losses_hourly.quantity + excluded.quantity`,
    values: [
      list.map((row) => row.projectId),
      list.map((row) => row.hour),
      list.map((row) => row.kind),
      list.map((row) => row.reason),
      list.map((row) => row.category),
      written.map(([key]) => sums.get(key) ?? 0),
    ],
  })
}
