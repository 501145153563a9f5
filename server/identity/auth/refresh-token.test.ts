import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '../../platform/kernel/ids.ts'
import { isOwnRefreshToken, makeRefreshToken, parseRefreshToken } from './refresh-token.ts'

const key = randomBytes(32)
const session = newId()

test('a token has its session and counter, and only its key verifies it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999 }), (counter) => {
      const token = parseRefreshToken(makeRefreshToken(key, session, counter))
      expect(token).toMatchObject({ sessionId: session, counter })
      if (token === null) return
      expect(isOwnRefreshToken(key, token)).toBe(true)
      expect(isOwnRefreshToken(randomBytes(32), token)).toBe(false)
      expect(isOwnRefreshToken(key, { ...token, counter: counter + 1 })).toBe(false)
      expect(isOwnRefreshToken(key, { ...token, sessionId: newId() })).toBe(false)
    }),
  )
})

test('one changed character makes a token invalid', () => {
  const token = makeRefreshToken(key, session, 7)
  fc.assert(
    fc.property(
      fc.nat(token.length - 1),
      fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
      (at, character) => {
        fc.pre(token[at] !== character)
        const parsed = parseRefreshToken(token.slice(0, at) + character + token.slice(at + 1))
        if (parsed !== null) expect(isOwnRefreshToken(key, parsed)).toBe(false)
      },
    ),
  )
})

test.each([
  '',
  'rt_',
  `rt_${session}.01.${'A'.repeat(43)}`,
  `rt_${session}.-1.${'A'.repeat(43)}`,
  `rt_${session}.1.${'A'.repeat(42)}`,
  `rt_${session}.1.${'A'.repeat(42)}B`,
  `rt_${session}.9999999999.${'A'.repeat(43)}`,
  `rt_${'-'.repeat(36)}.1.${'A'.repeat(43)}`,
])('%j is not a token', (text) => {
  expect(parseRefreshToken(text)).toBeNull()
})
