import type { Tx } from '../storage/database.ts'
import type { App } from '../context/app.ts'
import { recordSessions, type SessionFact } from '../metrics/sessions/record-sessions.ts'
import { ACCEPTED, type Disposition, type Filed } from '../outcomes/recorder.ts'

/** An update that is repeated changes nothing and is accepted all the same: SDKs repeat them on purpose. */
export async function recordSessionItems(
  _app: App,
  tx: Tx,
  now: Date,
  facts: readonly Filed<SessionFact>[],
): Promise<readonly Disposition[]> {
  const isCounted = await recordSessions(
    tx,
    now,
    facts.map(({ fact, filing }) => ({ projectId: filing.projectId, fact })),
  )
  return isCounted.map((counted) => (counted ? ACCEPTED : TOO_OLD))
}

/** It waited on the spool for longer than rows of sessions are kept. */
const TOO_OLD: Disposition = { outcome: 'discarded', reason: 'too_old' }
