import type { Connection } from '../../storage/database.ts'

/**
 * Takes a person's hash off the sessions they had; the sessions stay counted. Sketches of distinct users keep no single
 * person that could be taken out.
 * @param userHash as protocol/user-hash.ts makes it
 * @returns how many sessions were theirs
 */
export async function forgetSessionUser(db: Connection, projectId: string, userHash: number): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('app_sessions')
    .set({ user_hash: null, user_at: null })
    .where('project_id', '=', projectId)
    .where('user_hash', '=', userHash)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
