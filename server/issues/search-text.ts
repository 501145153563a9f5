/** Words of an issue as the full-text index keeps them, and of a question asked of it: made the same way. */

const MOST_CHARACTERS = 4_000
const MOST_WORD_CHARACTERS = 60

/**
 * `CheckoutFragment.onPaymentConfirmed` → `checkoutfragment onpaymentconfirmed checkout fragment on payment confirmed`:
 * lower-case words of letters and digits, each camel-case name whole and in its parts.
 */
export function searchText(texts: readonly (string | null | undefined)[]): string {
  const words = new Set<string>()
  let size = 0
  for (const text of texts) {
    for (const name of (text ?? '').slice(0, MOST_CHARACTERS).match(/[\p{L}\p{N}]+/gu) ?? []) {
      const parts = name.length > 3 ? name.replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, '$1 ').split(' ') : []
      for (const word of [name, ...(parts.length > 1 ? parts : [])]) {
        const plain = word.slice(0, MOST_WORD_CHARACTERS).toLowerCase()
        if (words.has(plain)) continue
        size += plain.length + 1
        if (size > MOST_CHARACTERS) return [...words].join(' ')
        words.add(plain)
      }
    }
  }
  return [...words].join(' ')
}

/** Words of a question; every one must occur, as the beginning of a word. */
export const questionWords = (text: string): string[] => [
  ...new Set((text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, MOST_WORD_CHARACTERS).toLowerCase())),
]
