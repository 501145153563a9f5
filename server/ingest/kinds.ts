import type { Occurrence } from '../issues/record.ts'

/** Everything digestion records, by kind; a line here needs one in recorders.ts. */
type FactKinds = {
  /** An error event on its way into an issue. */
  event: Occurrence
}

export type FactKind = keyof FactKinds
export type FactOf<K extends FactKind> = FactKinds[K]
