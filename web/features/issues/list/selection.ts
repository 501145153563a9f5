/** Keyboard cursor and selection of a list, by the ids of its rows in order. Pure. */

export type Selection = {
  selected: ReadonlySet<string>
  cursor: string | null
  /** The start of an extension by Shift. */
  anchor: string | null
}

export type SelectionMove =
  /** `J` and `K`; `extend` with Shift. */
  | { kind: 'step'; by: 1 | -1; extend: boolean }
  /** The pointer, Home or End moves the cursor. */
  | { kind: 'put'; id: string | null }
  /** `X` or a checkbox; `range` with Shift. */
  | { kind: 'toggle'; id: string; range?: boolean }
  | { kind: 'all' }
  | { kind: 'clear' }
  /** These rows will be removed: the cursor moves to the next remaining row. */
  | { kind: 'leave'; ids: ReadonlySet<string> }

export const NOTHING_SELECTED: Selection = { selected: new Set(), cursor: null, anchor: null }

const between = (ids: readonly string[], from: string | null, to: string): readonly string[] => {
  const start = from === null ? -1 : ids.indexOf(from)
  const end = ids.indexOf(to)
  if (end < 0) return []
  if (start < 0) return [to]
  return ids.slice(Math.min(start, end), Math.max(start, end) + 1)
}

/** The state after a move over the present rows. */
export function moveSelection(state: Selection, move: SelectionMove, ids: readonly string[]): Selection {
  switch (move.kind) {
    case 'step':
      return step(state, move.by, move.extend, ids)
    case 'put':
      return { ...state, cursor: move.id, anchor: null }
    case 'toggle':
      return toggle(state, move.id, move.range === true, ids)
    case 'all':
      return { ...state, selected: new Set(ids), anchor: null }
    case 'clear':
      return { ...state, selected: new Set(), anchor: null }
    case 'leave':
      return leave(state, move.ids, ids)
  }
}

function step(state: Selection, by: 1 | -1, extend: boolean, ids: readonly string[]): Selection {
  const at = state.cursor === null ? -1 : ids.indexOf(state.cursor)
  const next = at < 0 ? (by === 1 ? 0 : ids.length - 1) : Math.min(ids.length - 1, Math.max(0, at + by))
  const cursor = ids[next]
  if (cursor === undefined) return state
  if (!extend) return { ...state, cursor, anchor: null }
  const anchor = state.anchor ?? state.cursor ?? cursor
  const selected = new Set(state.selected)
  // Moving back deselects the rows that were reached before.
  if (state.cursor !== null && state.anchor !== null)
    for (const id of between(ids, anchor, state.cursor)) selected.delete(id)
  for (const id of between(ids, anchor, cursor)) selected.add(id)
  return { selected, cursor, anchor }
}

function toggle(state: Selection, id: string, range: boolean, ids: readonly string[]): Selection {
  const selected = new Set(state.selected)
  if (range && state.cursor !== null) {
    for (const one of between(ids, state.anchor ?? state.cursor, id)) selected.add(one)
    return { selected, cursor: id, anchor: state.anchor ?? state.cursor }
  }
  if (!selected.delete(id)) selected.add(id)
  return { selected, cursor: id, anchor: id }
}

function leave(state: Selection, leaving: ReadonlySet<string>, ids: readonly string[]): Selection {
  const selected = new Set([...state.selected].filter((id) => !leaving.has(id)))
  if (state.cursor === null || !leaving.has(state.cursor)) return { ...state, selected, anchor: null }
  const at = ids.indexOf(state.cursor)
  const stays = (id: string) => !leaving.has(id)
  const cursor = ids.slice(at + 1).find(stays) ?? ids.slice(0, Math.max(0, at)).findLast(stays) ?? null
  return { selected, cursor, anchor: null }
}

/** The targets of an action: the selected rows, or the row of the cursor if none is selected. */
export function actionTargets<Row extends { id: string }>(state: Selection, rows: readonly Row[]): readonly Row[] {
  if (state.selected.size > 0) return rows.filter((row) => state.selected.has(row.id))
  return rows.filter((row) => row.id === state.cursor)
}
