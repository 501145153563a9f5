import type { z } from 'zod'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { actorForLog, factContext, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { publish } from '../../platform/storage/bus.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { requireFreeName } from './create-project-key.ts'
import type { ProjectKey } from './projects.api.ts'
import {
  expireProjectKeys,
  lockProject,
  readProjectKeys,
  setProjectKey,
  type ProjectKeyRow,
  type ProjectRow,
} from './projects.queries.ts'
import { dropCachedProject, isActiveKey, viewIdentity, viewProjectKey } from './view-project.ts'

type KeyIds = { readonly projectId: string; readonly keyId: string }

type KeyPatch = {
  readonly name?: string | undefined
  readonly rate_limit_per_minute?: number | null | undefined
  readonly is_enabled?: boolean | undefined
}

/**
 * Changes the name or the limit of a key, or disables or enables it. Every process applies it immediately.
 * @throws AppError not_found, conflict (its name is taken, or it is the last active key)
 */
export async function updateProjectKey(
  app: App,
  actor: OrgActor,
  ids: KeyIds,
  patch: KeyPatch,
): Promise<z.input<typeof ProjectKey>> {
  const now = app.clock.now()
  const { project, key } = await app.tx(async (tx) => {
    const { project: locked, key: before, others } = await lockKey(tx, actor, ids)
    const name = patch.name ?? before.name
    const isEnabled = patch.is_enabled ?? before.disabled_at === null
    const after: ProjectKeyRow = {
      ...before,
      name,
      rate_limit_per_minute:
        patch.rate_limit_per_minute === undefined ? before.rate_limit_per_minute : patch.rate_limit_per_minute,
      disabled_at: isEnabled ? null : (before.disabled_at ?? now),
    }
    if (name !== before.name) requireFreeName(others, name)
    if (!isEnabled) requireOtherKey(others)
    const fields = (['name', 'rate_limit_per_minute', 'disabled_at'] as const).filter(
      (field) => before[field] !== after[field],
    )
    if (fields.length > 0) {
      await setProjectKey(tx, before.id, {
        name,
        rateLimit: after.rate_limit_per_minute,
        disabledAt: after.disabled_at,
      })
      await announceKey(tx, after)
      await recordFacts(tx, factContext(app, actor, now), [
        { kind: 'project.key_updated', orgId: actor.orgId, projectId: ids.projectId, data: { name, fields } },
      ])
    }
    return { project: viewIdentity(locked), key: after }
  })
  app.log.info({ project_id: ids.projectId, ...actorForLog(actor) }, 'project.key_updated')
  return viewProjectKey(app.config, project, key)
}

/**
 * Ends a key at once, for ever.
 * @throws AppError not_found, conflict (it is the last active key)
 */
export async function removeProjectKey(app: App, actor: OrgActor, ids: KeyIds): Promise<void> {
  const now = app.clock.now()
  await app.tx(async (tx) => {
    const { key, others } = await lockKey(tx, actor, ids)
    // The keys of its place that still work go with it: those that it replaced, or that an earlier version put there.
    requireOtherKey(others.filter(({ place }) => place !== key.place))
    for (const ended of await expireProjectKeys(tx, ids.projectId, key.place, now)) await announceKey(tx, ended)
    await recordFacts(tx, factContext(app, actor, now), [
      { kind: 'project.key_removed', orgId: actor.orgId, projectId: ids.projectId, data: { name: key.name } },
    ])
  })
  app.log.info({ project_id: ids.projectId, ...actorForLog(actor) }, 'project.key_removed')
}

type LockedKey = {
  readonly project: ProjectRow
  readonly key: ProjectKeyRow
  /** The keys beside it that did not end. */
  readonly others: readonly ProjectKeyRow[]
}

async function lockKey(tx: Tx, { orgId }: OrgActor, { projectId, keyId }: KeyIds): Promise<LockedKey> {
  const project = await lockProject(tx, orgId, projectId)
  if (project === null) throw notFound('Project')
  const keys = (await readProjectKeys(tx, projectId)).filter(({ expires_at }) => expires_at === null)
  const key = keys.find(({ id }) => id === keyId)
  if (key === undefined) throw notFound('Key')
  return { project, key, others: keys.filter(({ id }) => id !== keyId) }
}

function requireOtherKey(others: readonly ProjectKeyRow[]): void {
  if (!others.some(isActiveKey)) throw conflict('This is the last active key of the project. Add another key first.')
}

async function announceKey(tx: Tx, key: ProjectKeyRow): Promise<void> {
  await publish(tx, 'project_key', { public_key: key.public_key })
  await dropCachedProject(tx, key.project_id)
}
