import { ownRows } from '../../platform/storage/own-rows.ts'
import type { Statements } from '../../platform/storage/database.ts'

export type ValueKey = { readonly projectId: string; readonly kind: number; readonly id: number }
export const keyOfValue = ({ projectId, kind, id }: ValueKey): string => `${projectId} ${kind} ${id}`

const columnsOf = (keys: readonly ValueKey[]) => [
  keys.map(({ projectId }) => projectId),
  keys.map(({ kind }) => kind),
  keys.map(({ id }) => id),
]

/** Stored values by their keys ({@link keyOfValue}). */
export async function findValues(
  on: Statements,
  keys: readonly ValueKey[],
): Promise<Map<string, { value: string; lastDay: string }>> {
  const { rows } = await on.query<{ project_id: string; kind: number; id: number; value: string; last_day: string }>({
    name: 'event-values-find',
    text: `select v.* from unnest($1::uuid[], $2::smallint[], $3::int[]) k (project_id, kind, id)
           join event_values v on v.project_id = k.project_id and v.kind = k.kind and v.id = k.id`,
    values: columnsOf(keys),
  })
  return new Map(
    rows.map((row) => [keyOfValue({ ...row, projectId: row.project_id }), { value: row.value, lastDay: row.last_day }]),
  )
}

/** Number of values that the projects and kinds of these have, by `project kind`. */
export async function countValues(on: Statements, keys: readonly ValueKey[]): Promise<Map<string, number>> {
  const pairs = new Map(keys.map((key) => [`${key.projectId} ${key.kind}`, key]))
  const { rows } = await on.query<{ project_id: string; kind: number; n: number }>({
    name: 'event-values-count',
    text: `select k.project_id, k.kind, (select count(*) from event_values v where v.project_id = k.project_id and v.kind = k.kind)::int as n
           from unnest($1::uuid[], $2::smallint[]) k (project_id, kind)`,
    values: columnsOf([...pairs.values()]).slice(0, 2),
  })
  return new Map(rows.map(({ project_id: projectId, kind, n }) => [`${projectId} ${kind}`, n]))
}

/**
 * Adds values, or notes that they were used on a day. In the order of the key, so that batches wait for each other and never
 * in a circle. A value whose number another batch gave to another value meanwhile is named as that one: among 10,000 values
 * one project in eighty has such a pair.
 */
export async function saveValues(
  on: Statements,
  today: string,
  values: readonly (ValueKey & { readonly value: string })[],
): Promise<void> {
  const sorted = values.toSorted((a, b) =>
    a.projectId < b.projectId ? -1 : a.projectId > b.projectId ? 1 : a.kind - b.kind || a.id - b.id,
  )
  await on.query({
    name: 'event-values-save',
    text: `insert into event_values (project_id, kind, id, value, last_day)
           select k.*, $5::date from unnest($1::uuid[], $2::smallint[], $3::int[], $4::text[]) k
           on conflict (project_id, kind, id) do update set last_day = excluded.last_day
           where event_values.last_day < excluded.last_day`,
    values: [...columnsOf(sorted), sorted.map(({ value }) => value), today],
  })
}

/** Values that no event of the last years can have. */
export const EVENT_VALUES = ownRows('event_values')
