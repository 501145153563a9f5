import { MASK, type OwnHeader } from '#shared/webhook-headers.ts'

/** Shorter values occur by chance, and are hardly secret. */
const MIN_CHARACTERS = 6

/** Texts of a request that an answer may repeat and the log must not keep, in the spellings of HTTP, JSON and URLs. */
export function confidentialPattern(secrets: readonly string[], ownHeaders: readonly OwnHeader[]): RegExp | null {
  const texts = [
    ...secrets.flatMap((secret) => [secret, secret.slice(secret.indexOf('_') + 1)]),
    // Of `Bearer …` and the like also what follows.
    ...ownHeaders.flatMap(({ value }) => [value.trim(), value.trim().slice(value.trim().lastIndexOf(' ') + 1)]),
  ].filter((text) => text.length >= MIN_CHARACTERS)
  const spellings = new Set(
    texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text)]),
  )
  if (spellings.size === 0) return null
  // The longest first: it may contain others.
  const parts = [...spellings].toSorted((a, b) => b.length - a.length)
  return new RegExp(parts.map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}-]/g, String.raw`\$&`)).join('|'), 'g')
}

/**
 * The beginning of an answer without confidential texts, also without one that the cut would shorten.
 * @param bytes the answer, more of it than is kept
 */
export function withoutEcho(bytes: Buffer, maxBytes: number, confidential: RegExp | null): Buffer {
  if (confidential === null) return bytes.subarray(0, maxBytes)
  const parts: Buffer[] = []
  let from = 0
  // A byte is a character here, and what is searched for is ASCII.
  for (const { index, 0: found } of bytes.toString('latin1').matchAll(confidential)) {
    if (index >= maxBytes) break
    parts.push(bytes.subarray(from, index), Buffer.from(MASK))
    from = index + found.length
  }
  if (from < maxBytes) parts.push(bytes.subarray(from, maxBytes))
  return Buffer.concat(parts).subarray(0, maxBytes)
}
