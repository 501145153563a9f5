import { useKeys, type KeyBinding } from '../../../app/keys.ts'
import { issuesTexts } from './texts.ts'
import type { SelectionMove } from './selection.ts'

type StreamKeys = {
  /** The row of the keyboard cursor. */
  cursor: string | null
  /** @param focus whether the row takes the focus */
  onMove: (step: SelectionMove, focus?: boolean) => void
  onToggle: (id: string) => void
  onOpen: (id: string) => void
  onResolve: () => void
  onIgnore: () => void
  onMenu: (menu: 'assignee' | 'severity') => void
  /** Null while the user is unknown. */
  onTake: (() => void) | null
  onMerge: () => void
  onSearch: () => void
  onFilter: () => void
  /** Null without pending issues. */
  onFresh: (() => void) | null
  onEscape: () => void
}

/** Registers the keys of the stream. Those that move the cursor are not in the palette. */
export function useStreamKeys(keys: StreamKeys): void {
  const { cursor, onMove, onToggle, onOpen } = keys
  const at = (run: (id: string) => void) => () => {
    if (cursor !== null) run(cursor)
  }
  const step = (by: 1 | -1, extend: boolean) => () => onMove({ kind: 'step', by, extend }, true)
  const moves: [keys: string, label: string, run: () => void][] = [
    ['j', issuesTexts.keys.next, step(1, false)],
    ['k', issuesTexts.keys.previous, step(-1, false)],
    ['shift+j', issuesTexts.keys.extendDown, step(1, true)],
    ['shift+k', issuesTexts.keys.extendUp, step(-1, true)],
    ['x', issuesTexts.keys.select, at(onToggle)],
    ['mod+a', issuesTexts.keys.all, () => onMove({ kind: 'all' })],
    ['enter', issuesTexts.keys.open, at(onOpen)],
    ['o', issuesTexts.keys.open, at(onOpen)],
    ['escape', issuesTexts.keys.clear, keys.onEscape],
  ]
  const actions: [keys: string, label: string, run: (() => void) | null][] = [
    ['r', issuesTexts.keys.resolve, keys.onResolve],
    ['i', issuesTexts.keys.ignore, keys.onIgnore],
    ['a', issuesTexts.assign, () => keys.onMenu('assignee')],
    ['s', issuesTexts.setSeverity, () => keys.onMenu('severity')],
    ['e', issuesTexts.keys.take, keys.onTake],
    ['m', issuesTexts.merge, keys.onMerge],
  ]
  const page: typeof actions = [
    ['/', issuesTexts.keys.search, keys.onSearch],
    ['f', issuesTexts.keys.filter, keys.onFilter],
    ['.', issuesTexts.keys.showFresh, keys.onFresh],
  ]
  const bindings = (all: typeof actions, group: KeyBinding['group']): KeyBinding[] =>
    all.flatMap(([chord, label, run]) => (run === null ? [] : [{ keys: chord, label, group, run }]))
  useKeys([
    ...moves.map(([chord, label, run]) => ({
      keys: chord,
      label,
      group: 'Issues' as const,
      run,
      sheetOnly: true,
      repeats: /[jk]$/.test(chord),
    })),
    ...bindings(actions, 'Issues'),
    ...bindings(page, 'Page'),
  ])
}
