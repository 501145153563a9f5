import type { Tx } from '../../platform/storage/database.ts'
import type { BatteryState } from './battery-drain.ts'
import type { PerformanceFact } from './fact.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

const SLOTS = 262_144

/** A device of a project, as the key of maps. */
export const stateKey = ({ projectId, battery }: PerformanceFact): string => `${projectId}/${battery?.deviceKey ?? 0}`

const slotOf = ({ battery }: PerformanceFact): number => (battery?.deviceKey ?? 0) % SLOTS

/** Reads the remembered states of the devices of facts, and locks them until the transaction ends. */
export async function lockStates(tx: Tx, facts: readonly PerformanceFact[]): Promise<Map<string, BatteryState>> {
  const { rows } = await tx.query<{
    project_id: string
    device_key: number
    seen_at: Date
    from_at: Date | null
    from_percent: number | null
  }>({
    name: 'performance-lock-batteries',
    text: `select b.project_id, b.device_key, b.seen_at, b.from_at, b.from_percent from battery_levels b
           where (b.project_id, b.slot, b.device_key) in (select * from unnest($1::uuid[], $2::int[], $3::bigint[]))
           order by b.project_id, b.slot for update`,
    values: [
      facts.map(({ projectId }) => projectId),
      facts.map(slotOf),
      facts.map(({ battery }) => battery?.deviceKey ?? 0),
    ],
  })
  return new Map(
    rows.map(({ project_id, device_key, seen_at, from_at, from_percent }) => [
      `${project_id}/${device_key}`,
      {
        seenMs: seen_at.getTime(),
        from: from_at === null || from_percent === null ? null : { atMs: from_at.getTime(), percent: from_percent },
      },
    ]),
  )
}

/** Remembers in which hours devices drained; hours that are known stay. */
export async function addHours(
  tx: Tx,
  drains: readonly { readonly fact: PerformanceFact; readonly atMs: number }[],
): Promise<void> {
  const hours = new Map(
    drains.map(({ fact, atMs }) => {
      const hourMs = Math.floor(atMs / HOUR_MS) * HOUR_MS
      return [`${stateKey(fact)}/${hourMs}`, { fact, hourMs }]
    }),
  )
  if (hours.size === 0) return
  const rows = [...hours].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  await tx.query({
    name: 'performance-add-battery-hours',
    text: `insert into battery_hours (project_id, hour, device_key)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::bigint[]) on conflict do nothing`,
    values: [
      rows.map(({ fact }) => fact.projectId),
      rows.map(({ hourMs }) => new Date(hourMs)),
      rows.map(({ fact }) => fact.battery?.deviceKey ?? 0),
    ],
  })
}

/** Saves what is now known of the devices of facts. */
export async function saveStates(
  tx: Tx,
  facts: readonly PerformanceFact[],
  states: ReadonlyMap<string, BatteryState>,
): Promise<void> {
  const bySlot = new Map(
    facts.flatMap((fact) => {
      const state = states.get(stateKey(fact))
      return state === undefined
        ? []
        : [[`${fact.projectId}/${String(slotOf(fact)).padStart(6, '0')}`, { fact, state }]]
    }),
  )
  const rows = [...bySlot].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  await tx.query({
    name: 'performance-save-batteries',
    text: `insert into battery_levels (project_id, slot, device_key, seen_at, from_at, from_percent)
           select * from unnest($1::uuid[], $2::int[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::float8[])
           on conflict (project_id, slot) do update set device_key = excluded.device_key, seen_at = excluded.seen_at,
             from_at = excluded.from_at, from_percent = excluded.from_percent`,
    values: [
      rows.map(({ fact }) => fact.projectId),
      rows.map(({ fact }) => slotOf(fact)),
      rows.map(({ fact }) => fact.battery?.deviceKey ?? 0),
      rows.map(({ state }) => new Date(state.seenMs)),
      rows.map(({ state }) => (state.from === null ? null : new Date(state.from.atMs))),
      rows.map(({ state }) => state.from?.percent ?? null),
    ],
  })
}
