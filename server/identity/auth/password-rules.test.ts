import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkPasswordLength, judgePassword, passwordWeakness } from './password-rules.ts'

const ada = { email: 'ada.l@shop.example', name: 'Ada Lovelace', org: 'Shöp Inc' }

describe('length', () => {
  test.each([
    ['1234567', /at least 8/],
    ['🦊'.repeat(7), /at least 8/],
    ['x'.repeat(257), /at most 256/],
    ['abcdefg\ud83e', /not valid Unicode/],
  ])('%j is refused', (password, message) => {
    expect(() => checkPasswordLength(password, 'newPassword')).toThrow(message)
  })

  test.each(['12345678', '🦊'.repeat(8), '🦊'.repeat(256), ' '.repeat(8), 'x'.repeat(256)])('%j passes', (password) => {
    expect(() => checkPasswordLength(password, 'password')).not.toThrow()
  })

  test('is counted in characters, not in bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-composite', maxLength: 40 }), (text) => {
        const characters = Array.from(text).length
        const refused = characters < 8 || characters > 256
        if (refused) expect(() => checkPasswordLength(text, 'password')).toThrow('password must have')
        else expect(() => checkPasswordLength(text, 'password')).not.toThrow()
      }),
    )
  })
})

describe('weakness', () => {
  test.each([
    ['ada.l@shop.example', /e-mail address/],
    ['ADA.L@SHOP.EXAMPLE2026', /e-mail address/],
    ['123ada.l99', /first part/],
    ['Ada Lovelace', /your name/],
    ['adalovelace1', /your name/],
    ['2SHÖP INC026', /organisation/],
    ['Faultline', /this product/],
    ['007faultline2026', /this product/],
    ['password1', /most common/],
    ['PaSsWoRd1', /most common/],
  ])('%j is weak', async (password, reason) => {
    expect(await passwordWeakness(password, ada)).toMatch(reason)
  })

  test.each(['correct horse battery', 'faultlines are long', 'ada.l-and-more', 'xfaultline1'])(
    '%j is not',
    async (password) => {
      expect(await passwordWeakness(password, ada)).toBeNull()
    },
  )

  test('empty names refuse no password', async () => {
    expect(await passwordWeakness('83920175', { email: '@', name: ' ', org: '' })).toBeNull()
  })
})

test('PASSWORD_CHECK decides whether a weak password is refused, warned of or accepted', async () => {
  await expect(judgePassword('block', 'password1', ada)).rejects.toThrow('most common')
  await expect(judgePassword('warn', 'password1', ada)).resolves.toMatch('most common')
  await expect(judgePassword('off', 'password1', ada)).resolves.toBeNull()
  await expect(judgePassword('block', 'correct horse battery', ada)).resolves.toBeNull()
})
