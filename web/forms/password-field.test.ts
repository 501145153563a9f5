import { expect, test } from 'vitest'
import { ratePassword } from './password-field.tsx'

test.each([
  ['', false, 'At least 8 characters. Longer is better than complicated.'],
  ['short', false, '3 more characters needed.'],
  ['1234567', false, '1 more character needed.'],
  ['12345678', true, 'Weak: easy to guess.'],
  ['password1', true, 'Weak: easy to guess.'],
  ['aaaaaaaaaaaa', true, 'Weak: easy to guess.'],
  ['tr0ub4dor!', true, 'Fair: add a few words to make it strong.'],
  ['correct horse battery', true, 'Strong.'],
  // Length counts in characters, not in units of the encoding.
  ['😀😀😀😀', false, '4 more characters needed.'],
])('%s', (password, enough, text) => expect(ratePassword(password)).toEqual({ enough, text }))
