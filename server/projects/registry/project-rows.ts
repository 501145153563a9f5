import type { Tx } from '../../platform/storage/database.ts'

/**
 * Deletes rows of a deleted project, about `max` of them. May be called again at any time.
 * @returns the number of deleted rows; 0 when none is left
 */
export type DeleteProjectRows = (tx: Tx, projectId: string, max: number) => Promise<number>
