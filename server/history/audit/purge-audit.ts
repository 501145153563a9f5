import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { lockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { entryTime, NO_HASH } from './entry.ts'
import { headText } from './signed-heads.ts'
import { deletePrefix, entriesAfter, selectChains, selectCheckpoint, selectTime } from './verify.queries.ts'
import { isSigned, wrongIn } from './verify-chain.ts'

/** Entries are stored for this time. */
const RETENTION_MS = 365 * 86_400_000
/** Entries deleted by one transaction. */
const BATCH = 1_000
/** An arbitrary number. Two purges would otherwise delete the same entries. */
const PURGE_LOCK = 7_201_994_322

/** Between the clocks of this process and the database. */
const MAX_CLOCK_DIFFERENCE_MS = 3_600_000

/**
 * Deletes entries older than 365 days, from the beginning of each chain, and leaves a signed checkpoint from which
 * verification starts. A chain that is broken there stays as it is: it is evidence. Deletes nothing while the clocks of
 * process and database differ: one that is years ahead would delete everything.
 * @param timeOf the time of the database
 */
export async function purgeAudit(app: App, signal?: AbortSignal, timeOf = selectTime): Promise<void> {
  const now = app.clock.now()
  const databaseTime = await timeOf(app.db)
  if (Math.abs(now.getTime() - databaseTime.getTime()) > MAX_CLOCK_DIFFERENCE_MS) {
    app.log.error(
      { time: now, database_time: databaseTime },
      'no old entries of the audit log are deleted: the clocks of this machine and of the database differ by more than an hour. Correct them',
    )
    return
  }
  for (const { org_id: orgId } of await selectChains(app.db))
    do signal?.throwIfAborted()
    while ((await app.tx((tx) => purgeBatch(tx, app, orgId, now))) > 0)
}

type Place = { readonly seq: number; readonly hash: Buffer }

/** @returns number of deleted entries; 0 means that none are left to delete */
async function purgeBatch(tx: Tx, app: App, orgId: string, now: Date): Promise<number> {
  await lockUntilEnd(tx, PURGE_LOCK)
  const checkpoint = await selectCheckpoint(tx, orgId)
  const start = { seq: checkpoint?.seq ?? 0, hash: checkpoint?.hash ?? NO_HASH }
  if (checkpoint !== null && !isSigned(app, checkpoint)) {
    logBroken(app, orgId, { seq: checkpoint.seq, reason: 'The signature of its checkpoint is wrong.' })
    return 0
  }
  const end = await endOfOld(tx, app, orgId, start, now)
  if (end.seq === start.seq) return 0
  const text = headText('checkpoint', {
    org_id: orgId,
    seq: end.seq,
    hash: end.hash.toString('hex'),
    created_at: now.toISOString(),
  })
  await deletePrefix(tx, { org_id: orgId, ...end, created_at: now, signature: app.auditKey.sign(text) })
  return end.seq - start.seq
}

/**
 * The last old entry of the batch behind `start`. One that a wrong clock dated in the future is as old as what follows it.
 */
async function endOfOld(tx: Tx, app: App, orgId: string, start: Place, now: Date): Promise<Place> {
  const [before, latest] = [entryTime(new Date(now.getTime() - RETENTION_MS)), entryTime(now)]
  let at = start
  let end = start
  for (;;) {
    const batch = await entriesAfter(tx, orgId, at.seq, BATCH)
    for (const entry of batch) {
      if (entry.created_at >= before && entry.created_at <= latest) return end
      const wrong = wrongIn(app, entry, at)
      if (wrong !== null) {
        logBroken(app, orgId, wrong)
        return end
      }
      at = { seq: entry.seq, hash: entry.hash }
      if (entry.created_at < before) end = at
    }
    if (end !== start || batch.length < BATCH) return end
  }
}

const logBroken = (app: App, orgId: string, bad: { readonly seq: number; readonly reason: string }): void =>
  app.log.error(
    { org_id: orgId, ...bad },
    'an audit log is broken; its old entries are not deleted. Run the command "audit verify"',
  )

export const purgeAuditTask = defineTask({
  name: 'purge-audit-log',
  payload: NoPayload,
  cron: '25 3 * * *',
  run: (app, _payload, signal) => purgeAudit(app, signal),
})
