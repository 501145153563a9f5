import { expect, test } from 'vitest'
import { keyCaps } from './kbd.tsx'

test.each([
  ['r', false, ['R']],
  ['mod+k', false, ['Ctrl', 'K']],
  ['mod+k', true, ['⌘', 'K']],
  ['g i', false, ['G', 'I']],
  ['shift+j', false, ['Shift', 'J']],
  ['escape', false, ['Esc']],
  ['?', false, ['?']],
])('%s', (keys, apple, caps) => expect(keyCaps(keys, apple)).toEqual(caps))
