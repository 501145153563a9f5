import { useKeys, type KeyBinding } from '../../common/keys.ts'
import { issues as texts } from './texts.ts'
import type { SelectionMove } from './selection.ts'

type StreamKeys = {
  /** The row the keyboard stands on. */
  cursor: string | null
  /** @param focus the row takes the focus */
  onMove: (step: SelectionMove, focus?: boolean) => void
  onToggle: (id: string) => void
  onOpen: (id: string) => void
  onResolve: () => void
  onIgnore: () => void
  onMenu: (menu: 'owner' | 'severity') => void
  /** Null while nobody knows who asks. */
  onTake: (() => void) | null
  onMerge: () => void
  onSearch: () => void
  onFilter: () => void
  /** Null while nothing waits. */
  onFresh: (() => void) | null
  onEscape: () => void
}

/** The keys of the stream. Those of movement are in the sheet alone. */
export function useStreamKeys(keys: StreamKeys): void {
  const { cursor, onMove, onToggle, onOpen } = keys
  const at = (run: (id: string) => void) => () => {
    if (cursor !== null) run(cursor)
  }
  const step = (by: 1 | -1, extend: boolean) => () => onMove({ kind: 'step', by, extend }, true)
  const moves: [keys: string, label: string, run: () => void][] = [
    ['j', texts.keys.next, step(1, false)],
    ['k', texts.keys.previous, step(-1, false)],
    ['shift+j', texts.keys.extendDown, step(1, true)],
    ['shift+k', texts.keys.extendUp, step(-1, true)],
    ['x', texts.keys.select, at(onToggle)],
    ['mod+a', texts.keys.all, () => onMove({ kind: 'all' })],
    ['enter', texts.keys.open, at(onOpen)],
    ['o', texts.keys.open, at(onOpen)],
    ['escape', texts.keys.clear, keys.onEscape],
  ]
  const actions: [keys: string, label: string, run: (() => void) | null][] = [
    ['r', texts.keys.resolve, keys.onResolve],
    ['i', texts.keys.ignore, keys.onIgnore],
    ['a', texts.assign, () => keys.onMenu('owner')],
    ['s', texts.setSeverity, () => keys.onMenu('severity')],
    ['e', texts.keys.take, keys.onTake],
    ['m', texts.merge, keys.onMerge],
  ]
  const page: typeof actions = [
    ['/', texts.keys.search, keys.onSearch],
    ['f', texts.keys.filter, keys.onFilter],
    ['.', texts.keys.showFresh, keys.onFresh],
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
