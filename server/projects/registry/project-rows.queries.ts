import type { Connection, Tx } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from './project-rows.ts'

/**
 * Takes a project away at once: its row and its keys. What belongs to it refers to its id, which stays, and is deleted
 * afterwards.
 * @returns the public keys it had
 */
export async function removeProject(tx: Tx, orgId: string, projectId: string, now: Date): Promise<string[]> {
  await tx
    .updateTable('project_ids')
    .set({ deleted_at: now, deleted_from: orgId })
    .where('id', '=', projectId)
    .execute()
  const keys = await tx.deleteFrom('project_keys').where('project_id', '=', projectId).returning('public_key').execute()
  await tx.deleteFrom('projects').where('id', '=', projectId).execute()
  return keys.map((key) => key.public_key)
}

/** Returns which projects were deleted. Before it writes rows of projects, digestion asks in its transaction. */
export async function deletedAmong(on: Connection, projectIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await on.query<{ id: string }>({
    name: 'projects-deleted-among',
    text: 'select id from project_ids where id = any($1::uuid[]) and deleted_at is not null',
    values: [projectIds],
  })
  return new Set(rows.map(({ id }) => id))
}

/** Deleted projects of an organisation of which rows are left. */
export async function projectsBeingDeleted(on: Connection, orgId: string): Promise<string[]> {
  const { rows } = await on.query<{ id: string }>({
    name: 'projects-being-deleted',
    text: 'select id from project_ids where deleted_from = $1',
    values: [orgId],
  })
  return rows.map(({ id }) => id)
}

/** Notes that no row of a deleted project is left. */
export async function forgetDeletedFrom(tx: Tx, projectId: string): Promise<void> {
  await tx.updateTable('project_ids').set({ deleted_from: null }).where('id', '=', projectId).execute()
}

export const MINUTE_ROWS = ownRows('project_minutes')
export const MINUTES_PART = projectPart(5_000, [MINUTE_ROWS])
