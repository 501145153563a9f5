import { expect, test } from 'vitest'
import { createScreen } from './screen.ts'

/** @returns the screen and what was written on it, and a clock that stands still */
function aScreen(isTTY: boolean) {
  const written: string[] = []
  const errors: string[] = []
  const clock = { ms: 0 }
  const into = (texts: string[]) => ({
    isTTY,
    columns: 70,
    write: (text: string | Uint8Array) => texts.push(String(text)) > 0,
  })
  return { screen: createScreen(into(written), into(errors), () => clock.ms), written, errors, clock }
}

const CLEAR = '\r\u001B[2K'
const MIB = 1024 * 1024

test('a terminal shows a bar, which lines replace', () => {
  const { screen, written, errors, clock } = aScreen(true)
  screen.bar(0, 200 * MIB, 'a.so')
  screen.bar(MIB, 200 * MIB, 'a.so')
  clock.ms = 100
  screen.bar(50.5 * MIB, 200 * MIB, 'a-name-that-is-too-long-for-this-terminal.so')
  screen.line('a.so: stored')
  screen.error('b.so: refused')
  expect(written).toEqual([
    `${CLEAR}[..............................] 0 bytes of 200 MiB  a.so`,
    `${CLEAR}[########......................] 50.5 MiB of 200 MiB  a-name-that-is-`,
    CLEAR,
    'a.so: stored\n',
  ])
  expect(errors).toEqual(['faultline: b.so: refused\n'])
})

test('elsewhere there are lines only', () => {
  const { screen, written } = aScreen(false)
  screen.bar(1, 2, 'a.so')
  screen.line('a.so: stored')
  expect(written).toEqual(['a.so: stored\n'])
})

test('names of files and answers of servers do not control the terminal', () => {
  const { screen, written, errors } = aScreen(true)
  screen.line('a\u001B[2J.so: \nstored')
  screen.error('\u0007no\r')
  expect([...written, ...errors]).toEqual(['a [2J.so:  stored\n', 'faultline:  no \n'])
})
