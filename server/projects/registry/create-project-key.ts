import type { z } from 'zod'
import { MAX_PROJECT_KEYS } from '#shared/limits.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { actorForLog, factContext, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { publish } from '../../platform/storage/bus.ts'
import type { ProjectKey } from './projects.api.ts'
import { insertProjectKey, lockProject, readProjectKeys, type ProjectKeyRow } from './projects.queries.ts'
import { newPublicKey } from './rotate-dsn.ts'
import { viewIdentity, viewProjectKey } from './view-project.ts'

type NewKey = { readonly name: string; readonly rate_limit_per_minute: number | null }

/**
 * Adds a key to a project, valid immediately.
 * @throws AppError not_found, conflict (its name is taken, or the project has the most keys it may have)
 */
export async function createProjectKey(
  app: App,
  actor: OrgActor,
  projectId: string,
  { name, rate_limit_per_minute }: NewKey,
): Promise<z.input<typeof ProjectKey>> {
  const now = app.clock.now()
  const { project, key } = await app.tx(async (tx) => {
    const locked = await lockProject(tx, actor.orgId, projectId)
    if (locked === null) throw notFound('Project')
    const keys = await readProjectKeys(tx, projectId)
    const present = keys.filter(({ expires_at }) => expires_at === null)
    requireFreeName(present, name)
    if (present.length >= MAX_PROJECT_KEYS)
      throw conflict(`A project has at most ${MAX_PROJECT_KEYS} keys. Remove one first.`)
    const row: ProjectKeyRow = {
      id: newId(),
      project_id: projectId,
      public_key: newPublicKey(),
      created_at: now,
      expires_at: null,
      last_seen_at: null,
      dsn_number: null,
      name,
      rate_limit_per_minute,
      disabled_at: null,
      place: nextPlace(keys),
    }
    await insertProjectKey(tx, row)
    await publish(tx, 'project_key', { public_key: row.public_key })
    await recordFacts(tx, factContext(app, actor, now), [
      { kind: 'project.key_created', orgId: actor.orgId, projectId, data: { name } },
    ])
    return { project: viewIdentity(locked), key: row }
  })
  app.log.info({ project_id: projectId, ...actorForLog(actor) }, 'project.key_created')
  return viewProjectKey(app.config, project, key)
}

/** @throws AppError conflict when one of the keys has the name */
export function requireFreeName(keys: readonly ProjectKeyRow[], name: string): void {
  if (keys.some((key) => key.name.toLowerCase() === name.toLowerCase()))
    throw conflict(`This project has a key named ${name}. Choose another name.`)
}

/** The place after those of all keys that the project has or had. */
export const nextPlace = (keys: readonly ProjectKeyRow[]): number => Math.max(0, ...keys.map(({ place }) => place)) + 1
