import type { JobActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { Difference, ImportKind, ProjectMapping } from './imports.api.ts'
import type { Position } from './position.ts'
import type { Source } from './source.ts'

/** The import that a step continues. */
export type Running = {
  /** Tells no one of its changes. */
  readonly app: App
  readonly importId: string
  readonly source: Source
  /** Names the source in `imported_things`. */
  readonly sourceName: string
  /** The member who started the import, with the role of now. */
  readonly actor: JobActor
  readonly startedAt: Date
  readonly mapping: readonly ProjectMapping[]
  readonly position: Position
  readonly signal: AbortSignal
}

/** The result of a step. */
export type Progress = {
  readonly done?: Partial<Record<ImportKind, number>>
  /** Adds to the totals. */
  readonly total?: Partial<Record<ImportKind, number>>
  readonly differences?: readonly Difference[]
  /** The next page of the same phase and project; null when this was the last. */
  readonly cursor: string | null
  /** Writes that belong to the progress, in its transaction. */
  readonly write?: (tx: Tx) => Promise<Omit<Progress, 'write' | 'cursor'> | void>
}
