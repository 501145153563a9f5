import type pg from 'pg'
import { dayPlus } from './event.ts'

const PARTITION_LOCK = 7_201_994_312

/**
 * Makes sure the partitions for a received day and the one after exist. Cheap when they do; call it before writing
 * events of a day not written before by this process. Not inside the caller's transaction: it takes a table lock.
 */
export async function ensureEventPartitions(pool: pg.Pool, day: string): Promise<void> {
  const wanted = [day, dayPlus(day, 1)]
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'events'::regclass and c.relname = any($1)`,
    [wanted.map(partitionName)],
  )
  const present = new Set(rows.map((row) => row.name))
  const missing = wanted.filter((one) => !present.has(partitionName(one)))
  if (missing.length === 0) return
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK])
    for (const one of missing) {
      const name = partitionName(one)
      await client.query(
        // toast_tuple_target: bodies of up to 8 kB stay in the row; fillfactor: events never change.
        `create table if not exists ${name} partition of events for values from ('${one}') to ('${dayPlus(one, 1)}') with (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.5)`,
      )
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

/** Built from a date we made ourselves, never from input. */
function partitionName(day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new Error(`not a day: ${day}`)
  return `events_${day.replaceAll('-', '')}`
}
