import type { Issue } from '../../../api/issue-queries.ts'
import type { OpenMenu } from './edits.ts'
import type { RowMenu } from './row.tsx'
import { recalledSelection } from './selection-memory.ts'
import { moveSelection, NOTHING_SELECTED, type Selection, type SelectionMove } from './selection.ts'

/** The selection of the issues page, and what is open on it. */

/** Menus and dialogs. */
type Opened = {
  rowMenu: { id: string; menu: RowMenu } | null
  bulkMenu: OpenMenu
  filtering: boolean
  merging: { into: Issue; issues: readonly Issue[] } | null
  deleting: readonly Issue[] | null
}

export type StreamState = Opened & {
  /** The address of the list, without its cursor. */
  key: string
  selection: Selection
  /** Increases with each move of the cursor by keys: the row then takes the focus and scrolls into view. */
  focusTurn: number
  /** All matching issues are selected, not only the loaded ones. */
  everything: boolean
  /** The row of the cursor before a change that was undone, until the list shows it. */
  returning: string | null
}

export type StreamStep =
  /** The address of another list. */
  | { kind: 'list'; key: string }
  | { kind: 'move'; move: SelectionMove; ids: readonly string[]; focus?: boolean }
  | { kind: 'everything'; everything: boolean }
  /** The list is read again from the start. */
  | { kind: 'fresh' }
  | { kind: 'undone'; cursor: string | null }
  /** The list shows the row of `undone`. */
  | { kind: 'returned'; id: string; ids: readonly string[] }
  | { kind: 'open'; opened: Partial<Opened> }

/** @param cursor the row to which the user returns; undefined for a new visit */
export const startStream = ({ key, cursor }: { key: string; cursor: string | undefined }): StreamState => ({
  key,
  selection: {
    ...NOTHING_SELECTED,
    // Returning to the list restores the selection.
    ...(cursor === undefined ? {} : recalledSelection(key)),
    cursor: cursor ?? null,
  },
  focusTurn: 0,
  everything: false,
  returning: null,
  rowMenu: null,
  bulkMenu: null,
  filtering: false,
  merging: null,
  deleting: null,
})

export function stepStream(state: StreamState, step: StreamStep): StreamState {
  switch (step.kind) {
    case 'list':
      return { ...state, key: step.key, selection: NOTHING_SELECTED, everything: false, returning: null }
    case 'move':
      return {
        ...state,
        selection: moveSelection(state.selection, step.move, step.ids),
        everything: state.everything && step.move.kind === 'put',
        focusTurn: state.focusTurn + (step.focus === true ? 1 : 0),
      }
    case 'everything':
      return { ...state, everything: step.everything }
    case 'fresh':
      return { ...state, selection: NOTHING_SELECTED }
    case 'undone':
      return { ...state, returning: step.cursor }
    case 'returned':
      return {
        ...state,
        selection: moveSelection(state.selection, { kind: 'put', id: step.id }, step.ids),
        focusTurn: state.focusTurn + 1,
        returning: null,
      }
    case 'open':
      return { ...state, ...step.opened }
  }
}
