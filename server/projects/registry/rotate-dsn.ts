import { publish } from '../../platform/storage/bus.ts'
import { actorForLog, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { buildDsn } from './dsn.ts'
import { Region } from './projects.api.ts'
import { expireProjectKeys, insertProjectKey, lockProject, readProjectKeys } from './projects.queries.ts'
import { currentKey, dropCachedProject } from './view-project.ts'
import { randomBytes } from 'node:crypto'

type RotatedDsn = { dsn: string; old_dsn: string | null; old_dsn_expires_at: string | null }

/**
 * Creates a new key in the place of another, valid immediately. The keys of that place expire after the grace period, or
 * earlier if an earlier rotation set that. Every process is notified of each key on the topic `project_key`.
 * @param keyId the key to replace; by default the one in the DSN of the project
 * @throws AppError not_found (the project, or no such active key)
 */
export async function rotateDsn(
  app: App,
  actor: OrgActor,
  projectId: string,
  graceSeconds: number,
  keyId?: string,
): Promise<RotatedDsn> {
  const now = app.clock.now()
  const expiresAt = new Date(now.getTime() + graceSeconds * 1000)
  const publicKey = newPublicKey()
  const { project, old } = await app.tx(async (tx) => {
    const locked = await lockProject(tx, actor.orgId, projectId)
    if (locked === null) throw notFound('Project')
    const keys = await readProjectKeys(tx, projectId)
    const before =
      keyId === undefined ? currentKey(keys) : keys.find(({ id, expires_at }) => id === keyId && expires_at === null)
    if (keyId !== undefined && before === undefined) throw notFound('Key')
    const expiring = await expireProjectKeys(tx, projectId, before?.place ?? 0, expiresAt)
    await insertProjectKey(tx, {
      id: newId(),
      project_id: projectId,
      public_key: publicKey,
      created_at: now,
      ...(before === undefined
        ? {}
        : {
            name: before.name,
            place: before.place,
            rate_limit_per_minute: before.rate_limit_per_minute,
            disabled_at: before.disabled_at,
          }),
    })
    for (const key of [publicKey, ...expiring.map((row) => row.public_key)]) {
      await publish(tx, 'project_key', { public_key: key })
    }
    await dropCachedProject(tx, projectId)
    await recordFacts(tx, factContext(app, actor, now), [
      { kind: 'project.dsn_rotated', orgId: actor.orgId, projectId, data: { grace_seconds: graceSeconds } },
    ])
    return { project: { number: locked.number, region: Region.parse(locked.region) }, old: before }
  })
  app.log.info({ project_id: projectId, ...actorForLog(actor), grace_seconds: graceSeconds }, 'project.dsn_rotated')
  return {
    dsn: buildDsn(app.config, project, publicKey),
    old_dsn: old === undefined ? null : buildDsn(app.config, project, old.public_key),
    old_dsn_expires_at: old === undefined ? null : expiresAt.toISOString(),
  }
}

/** Returns a project key: 128 random bits. It is not secret, because every shipped app contains it. */
export const newPublicKey = (): string => randomBytes(16).toString('hex')
