import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { lockUntilEnd } from '../storage/advisory-lock.queries.ts'
import type { Tx } from '../storage/database.ts'
import { entryTime, NO_HASH } from './entry.ts'
import { headText } from './signed-heads.ts'
import { deletePrefix, entriesAfter, selectChains, selectCheckpoint } from './verify.queries.ts'
import { isSigned, wrongIn } from './verify-chain.ts'

/** Entries are stored for this time. */
const RETENTION_MS = 365 * 86_400_000
/** Entries deleted by one transaction. */
const BATCH = 1_000
const CHAINS = 500
/** An arbitrary number. Two purges would otherwise delete the same entries. */
const PURGE_LOCK = 7_201_994_322

/**
 * Deletes entries older than 365 days, from the beginning of each chain, and leaves a signed checkpoint from which
 * verification starts. A chain that is broken there stays as it is: it is evidence.
 */
export async function purgeAudit(app: App, signal?: AbortSignal): Promise<void> {
  const before = entryTime(new Date(app.clock.now().getTime() - RETENTION_MS))
  for (let after: string | undefined; ;) {
    const chains = await selectChains(app.db, { after }, CHAINS)
    for (const { org_id: orgId } of chains)
      do signal?.throwIfAborted()
      while ((await app.tx((tx) => purgeBatch(tx, app, orgId, before))) === BATCH)
    after = chains.at(-1)?.org_id
    if (chains.length < CHAINS) return
  }
}

/** @returns number of deleted entries */
async function purgeBatch(tx: Tx, app: App, orgId: string, before: string): Promise<number> {
  await lockUntilEnd(tx, PURGE_LOCK)
  const checkpoint = await selectCheckpoint(tx, orgId)
  const start = { seq: checkpoint?.seq ?? 0, hash: checkpoint?.hash ?? NO_HASH }
  let at = start
  for (const entry of await entriesAfter(tx, orgId, start.seq, BATCH)) {
    if (entry.created_at >= before) break
    const wrong =
      checkpoint === null || isSigned(app, checkpoint)
        ? wrongIn(app, entry, at)
        : { seq: checkpoint.seq, reason: 'The signature of its checkpoint is wrong.' }
    if (wrong !== null) {
      app.log.error(
        { org_id: orgId, ...wrong },
        'an audit log is broken; its old entries are not deleted. Run "npm run admin -- audit verify"',
      )
      break
    }
    at = { seq: entry.seq, hash: entry.hash }
  }
  if (at.seq === start.seq) return 0
  const now = app.clock.now()
  const text = headText('checkpoint', {
    org_id: orgId,
    seq: at.seq,
    hash: at.hash.toString('hex'),
    created_at: now.toISOString(),
  })
  await deletePrefix(tx, { org_id: orgId, ...at, created_at: now, signature: app.auditKey.sign(text) })
  return at.seq - start.seq
}

export const purgeAuditTask = defineTask({
  name: 'purge-audit-log',
  payload: NoPayload,
  cron: '25 3 * * *',
  run: (app, _payload, signal) => purgeAudit(app, signal),
})
