import { sql } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'

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
