import type { SavedView } from '../../api/view-queries.ts'

/** The suggestions of a query field. */
export type QuerySource = {
  /** Suggestions are cached by it: it names the list and what it is limited to. */
  readonly id: string
  /** The counted thing, in the singular. */
  readonly unit: string
  /** Suggests keys that begin with a text or, of a key, values. */
  readonly suggest: (key: string | null, prefix: string, signal: AbortSignal) => Promise<Suggestions>
  /** Opens a saved view. Without it, none are suggested. */
  readonly onView?: (view: SavedView) => void
}

export type Suggestions = {
  readonly items: readonly {
    /** As a query writes it. */
    readonly text: string
    readonly count: number | null
    /** The meaning of the value or, if it is quoted, the text that it stands for. */
    readonly label: string | null
  }[]
  /** The number of issues that were counted, if there are more. */
  readonly newest: number | null
}
