import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newBackupCodes, readBackupCode } from './backup-codes.ts'

const t = await testApp()

test('ten different codes of ten characters of the alphabet, hashed with one salt', async () => {
  const { codes, salt, hashes } = await newBackupCodes(t.app)
  expect(codes).toHaveLength(10)
  for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/)
  expect(salt).toHaveLength(16)
  expect(new Set(hashes.map((hash) => hash.toString('hex'))).size).toBe(10)
  expect(hashes.every((hash) => hash.length === 32)).toBe(true)
  const [first = ''] = codes
  expect((await t.app.passwords.hashCode(first, salt)).equals(hashes[0] ?? Buffer.alloc(0))).toBe(true)
  const other = await newBackupCodes(t.app)
  expect(other.salt.equals(salt)).toBe(false)
  expect((await t.app.passwords.hashCode(first, other.salt)).equals(hashes[0] ?? Buffer.alloc(0))).toBe(false)
})

test('every character of the alphabet appears about equally often', async () => {
  const counts = new Map<string, number>()
  for (let i = 0; i < 40; i++)
    for (const character of (await newBackupCodes(t.app)).codes.join(''))
      counts.set(character, (counts.get(character) ?? 0) + 1)
  expect(counts.size).toBe(32)
  // 4,000 characters: 125 each, with a standard deviation of 11.
  for (const [character, count] of counts) expect(count, character).toBeGreaterThan(50)
})

test.each([
  ['0123456789', '0123456789'],
  ['abcde-fghjk', 'ABCDEFGHJK'],
  [' abcde fghjk ', 'ABCDEFGHJK'],
  ['OIL3456789', '0113456789'],
  ['012345678', null],
  ['01234567890', null],
  ['012345678U', null],
  ['012345678é', null],
  ['', null],
])('%j is the code %j', (text, code) => {
  expect(readBackupCode(text)).toBe(code)
})
