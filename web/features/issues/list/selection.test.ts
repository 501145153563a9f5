import fc from 'fast-check'
import { expect, test } from 'vitest'
import { moveSelection, NOTHING_SELECTED, actionTargets, type Selection, type SelectionMove } from './selection.ts'

const IDS = ['a', 'b', 'c', 'd', 'e']
const after = (...moves: SelectionMove[]): Selection =>
  moves.reduce((state, move) => moveSelection(state, move, IDS), NOTHING_SELECTED)
const down = { kind: 'step', by: 1, extend: false } as const
const up = { kind: 'step', by: -1, extend: false } as const
const downExtending = { kind: 'step', by: 1, extend: true } as const
const upExtending = { kind: 'step', by: -1, extend: true } as const
const chosen = (state: Selection): string => [...state.selected].toSorted().join('')

test('J starts at the first row and stops at the last, K the other way round', () => {
  expect(after(down).cursor).toBe('a')
  expect(after(down, down).cursor).toBe('b')
  expect(after(...IDS.map(() => down), down).cursor).toBe('e')
  expect(after(up).cursor).toBe('e')
  expect(after(down, up).cursor).toBe('a')
})

test('X selects and deselects the row of the cursor', () => {
  expect(chosen(after(down, { kind: 'toggle', id: 'a' }))).toBe('a')
  expect(chosen(after({ kind: 'toggle', id: 'a' }, { kind: 'toggle', id: 'a' }))).toBe('')
})

test('Shift extends the selection from its start and shrinks it on the way back', () => {
  expect(chosen(after(down, downExtending, downExtending))).toBe('abc')
  expect(chosen(after(down, downExtending, downExtending, upExtending))).toBe('ab')
  expect(chosen(after(down, down, down, upExtending))).toBe('bc')
  expect(chosen(after({ kind: 'put', id: 'b' }, downExtending, upExtending, upExtending))).toBe('ab')
})

test('Shift and a press select all rows between', () => {
  expect(chosen(after({ kind: 'toggle', id: 'b' }, { kind: 'toggle', id: 'd', range: true }))).toBe('bcd')
})

test('all rows and no rows', () => {
  expect(chosen(after({ kind: 'all' }))).toBe('abcde')
  expect(chosen(after({ kind: 'all' }, { kind: 'clear' }))).toBe('')
})

test('when rows are removed, the cursor moves to the next row, at the end to the previous one', () => {
  const at = (cursor: string, ...leaving: string[]) =>
    moveSelection({ ...NOTHING_SELECTED, cursor }, { kind: 'leave', ids: new Set(leaving) }, IDS).cursor
  expect(at('b', 'b')).toBe('c')
  expect(at('b', 'b', 'c')).toBe('d')
  expect(at('e', 'e')).toBe('d')
  expect(at('a', 'c')).toBe('a')
  expect(at('a', ...IDS)).toBeNull()
})

test('an action applies to the selected rows, else to the row of the cursor', () => {
  const rows = IDS.map((id) => ({ id }))
  expect(actionTargets(after(down), rows)).toEqual([{ id: 'a' }])
  expect(actionTargets(after(down, { kind: 'toggle', id: 'c' }, { kind: 'toggle', id: 'd' }), rows)).toEqual([
    { id: 'c' },
    { id: 'd' },
  ])
  expect(actionTargets(NOTHING_SELECTED, rows)).toEqual([])
})

const anyMove = fc.oneof(
  fc.record({ kind: fc.constant('step' as const), by: fc.constantFrom(1 as const, -1 as const), extend: fc.boolean() }),
  fc.record({ kind: fc.constant('toggle' as const), id: fc.constantFrom(...IDS), range: fc.boolean() }),
  fc.record({ kind: fc.constant('put' as const), id: fc.constantFrom(...IDS) }),
  fc.constant({ kind: 'all' as const }),
  fc.constant({ kind: 'clear' as const }),
  fc.record({ kind: fc.constant('leave' as const), ids: fc.subarray(IDS).map((ids) => new Set(ids)) }),
)

test('after any keys, cursor and selection are rows of the list, and the input is unchanged', () => {
  fc.assert(
    fc.property(fc.array(anyMove, { maxLength: 30 }), (moves) => {
      let state = NOTHING_SELECTED
      for (const move of moves) {
        const before = chosen(state)
        const next = moveSelection(state, move, IDS)
        expect(chosen(state)).toBe(before)
        state = next
        for (const id of state.selected) expect(IDS).toContain(id)
        if (state.cursor !== null) expect(IDS).toContain(state.cursor)
      }
    }),
  )
})
