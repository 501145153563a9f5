import { setTimeout as delay } from 'node:timers/promises'
import { publish } from '../../platform/storage/bus.ts'
import { orgSealer } from '../../identity/auth/org-sealer.ts'
import { actorForLog, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { tidy } from '../../events/protocol/strings.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import { continueErasure } from './continue-erasure.ts'
import { startErasure, readErasure, type ErasureRow } from './erasures.queries.ts'
import { keyPlace } from './key-place.ts'
import type { Erasure } from './privacy.api.ts'

/** Events store this many characters of a user's id. */
const MAX_CHARACTERS = 256
/** After this time the erasure continues in the background. */
const INLINE_MS = 5_000

/**
 * Erases all data of one of the app's users. May be called again at any time. The erasure continues in the background,
 * also after the process ends.
 * @throws AppError not_found (project)
 */
export async function eraseUser(app: App, actor: OrgActor, projectId: string, userId: string): Promise<Erasure> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const userKey = tidy(userId, MAX_CHARACTERS)
  const userHash = hashUser(projectId, userKey)
  const row = await app.tx(async (tx) => {
    const sealer = await orgSealer(app, actor.orgId, tx)
    const erasure = await startErasure(tx, {
      id: newId(),
      project_id: projectId,
      org_id: actor.orgId,
      user_hash: userHash,
      user_key_sealed: sealer.seal(Buffer.from(userKey), keyPlace(projectId, userHash, actor.orgId)),
      now: app.clock.now(),
    })
    // Digestion reads recent erasures with the facts of the project.
    await publish(tx, 'project', { project_id: projectId })
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'project.user_data_erased', orgId: actor.orgId, projectId, data: { erasure_id: erasure.id } },
    ])
    return erasure
  })
  // Never the id of the user: the log would keep what the database deletes.
  app.log.info({ project_id: projectId, ...actorForLog(actor), erasure_id: row.id }, 'user.erasure_requested')
  await waitBriefly(app, continueErasure(app, row.id, AbortSignal.timeout(INLINE_MS)))
  return viewErasure((await readErasure(app.db, row.id)) ?? row)
}

/** Waits at most {@link INLINE_MS}: reading a day of logs may take minutes and then ends in the background. */
async function waitBriefly(app: App, work: Promise<void>): Promise<void> {
  const waited = new AbortController()
  const timeout = delay(INLINE_MS, true, { signal: waited.signal }).catch(() => false)
  try {
    if ((await Promise.race([work.then(() => false), timeout])) === true)
      work.catch((error: unknown) =>
        app.log.warn({ err: error }, 'an erasure failed; the job erasures continues it within a minute'),
      )
  } finally {
    waited.abort()
  }
}

function viewErasure(row: ErasureRow): Erasure {
  return {
    state: row.state,
    requested_at: row.requested_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    erased: row.erased,
  }
}
