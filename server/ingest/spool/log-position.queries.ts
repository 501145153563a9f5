import type { Connection, Statements } from '../../platform/storage/database.ts'

/** How far a log has been moved into the spool. */
export type LogPosition = {
  /** Identifies the stream that the sequence counts in. */
  readonly created: string
  readonly sequence: number
  readonly messageId: string | null
}

/** First half of the advisory lock of the mover; the second half is a hash of the stream's name. */
const MOVER_LOCK = 720_200

/** Makes this connection the mover of a stream, until it ends. @returns false when another one is */
export async function tryLockMover(session: Connection, stream: string): Promise<boolean> {
  const { rows } = await session.query<{ locked: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as locked', [
    MOVER_LOCK,
    stream,
  ])
  return rows[0]?.locked === true
}

/** Null before the first move. */
export async function selectPosition(on: Statements, stream: string): Promise<LogPosition | null> {
  const { rows } = await on.query<{ created: string; sequence: number; messageId: string | null }>(
    'select created, sequence, message_id as "messageId" from spool_log where stream = $1',
    [stream],
  )
  return rows[0] ?? null
}

/** Begins at a position, whatever was there before. */
export async function resetPosition(on: Statements, stream: string, position: LogPosition): Promise<void> {
  await on.query(
    `insert into spool_log (stream, created, sequence, message_id, moved_until) values ($1, $2, $3, $4, '-infinity')
     on conflict (stream) do update set created = excluded.created, sequence = excluded.sequence,
       message_id = excluded.message_id, moved_until = excluded.moved_until`,
    [stream, position.created, position.sequence, position.messageId],
  )
}

/**
 * Moves a position on.
 * @param movedUntil all that was acknowledged before this time is moved then
 * @returns false when it is not at `from` any more: another mover moved
 */
export async function advancePosition(
  on: Statements,
  stream: string,
  { from, to, movedUntil }: { readonly from: LogPosition; readonly to: LogPosition; readonly movedUntil: Date },
): Promise<boolean> {
  const { rowCount } = await on.query(
    `update spool_log set sequence = $4, message_id = $5, moved_until = greatest(moved_until, $6)
     where stream = $1 and created = $2 and sequence = $3`,
    [stream, from.created, from.sequence, to.sequence, to.messageId, movedUntil],
  )
  return rowCount === 1
}

/** Until when everything that the log acknowledged is moved; null before the first move. */
export async function selectMovedUntil(on: Statements, stream: string): Promise<Date | null> {
  const { rows } = await on.query<{ until: Date | null }>(
    `select nullif(moved_until, '-infinity') as until from spool_log where stream = $1`,
    [stream],
  )
  return rows[0]?.until ?? null
}
