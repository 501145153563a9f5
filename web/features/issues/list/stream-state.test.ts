import { expect, test } from 'vitest'
import { rememberSelection } from './selection-memory.ts'
import { startStream, stepStream, type StreamState } from './stream-state.ts'

const ids = ['a', 'b', 'c']
const start = startStream({ key: 'one', cursor: undefined })
const selected: StreamState = {
  ...start,
  selection: { selected: new Set(ids), cursor: 'b', anchor: null },
  everything: true,
  returning: 'c',
  filtering: true,
}

test('a new visit begins without a selection, a return with the one that was left', () => {
  rememberSelection('one', { selected: new Set(['a']), cursor: 'a', anchor: 'a' })
  expect(startStream({ key: 'one', cursor: undefined }).selection).toEqual(start.selection)
  expect(startStream({ key: 'one', cursor: 'b' }).selection).toEqual({
    selected: new Set(['a']),
    cursor: 'b',
    anchor: 'a',
  })
  expect(startStream({ key: 'two', cursor: 'b' }).selection.selected.size).toBe(0)
})

test('the address of another list ends the selection, and leaves open what is open', () => {
  expect(stepStream(selected, { kind: 'list', key: 'two' })).toEqual({ ...start, key: 'two', filtering: true })
})

test('a move of the pointer keeps the selection of all matching issues, any other move ends it', () => {
  const put = stepStream(selected, { kind: 'move', move: { kind: 'put', id: 'c' }, ids })
  expect(put).toMatchObject({ everything: true, focusTurn: 0, selection: { cursor: 'c' } })
  const toggled = stepStream(selected, { kind: 'move', move: { kind: 'toggle', id: 'c' }, ids })
  expect(toggled).toMatchObject({ everything: false, focusTurn: 0 })
})

test('a move by keys gives the focus to the row', () => {
  const moved = stepStream(start, { kind: 'move', move: { kind: 'step', by: 1, extend: false }, ids, focus: true })
  expect(moved).toMatchObject({ focusTurn: 1, selection: { cursor: 'a' } })
})

test('after an undone change the cursor returns to its row', () => {
  const undone = stepStream(start, { kind: 'undone', cursor: 'c' })
  expect(undone.returning).toBe('c')
  expect(stepStream(undone, { kind: 'returned', id: 'c', ids })).toMatchObject({
    returning: null,
    focusTurn: 1,
    selection: { cursor: 'c' },
  })
})

test('reading the list again ends the selection', () => {
  expect(stepStream(selected, { kind: 'fresh' }).selection).toEqual(start.selection)
})
