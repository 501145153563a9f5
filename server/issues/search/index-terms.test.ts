import { expect, test } from 'vitest'
import { buildIndexTerms } from './index-terms.ts'

const NAMES = /[A-Za-z0-9]+/g
const CAMEL = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
const MAX_CHARACTERS = 60

/** Each camel-case name of more than three characters, whole and in its parts. */
function wordsByPattern(text: string): string[] {
  const words = (text.match(NAMES) ?? []).flatMap((name) => {
    const parts = name.length > 3 ? name.split(CAMEL) : []
    return [name, ...(parts.length > 1 ? parts : [])]
  })
  return [...new Set(words.map((word) => word.slice(0, MAX_CHARACTERS).toLowerCase()))]
}

test('the words of every ASCII text are those that patterns find', () => {
  let texts = ['']
  for (let length = 1; length <= 6; length++) {
    texts = texts.flatMap((text) => ['a', 'Z', '0', '.'].map((character) => text + character))
    for (const text of texts) expect(buildIndexTerms([text], [])).toEqual(wordsByPattern(text))
  }
  const long = `${'a'.repeat(70)}B${'c'.repeat(70)}`
  for (const text of ['CheckoutFragment.onPaymentConfirmed', 'NSURLSession', 'x@[`{/:Y', long])
    expect(buildIndexTerms([text], [])).toEqual(wordsByPattern(text))
})
