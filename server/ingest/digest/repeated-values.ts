import type { GroupingPart } from '../../issues/grouping/grouping.api.ts'
import type { Occurrence } from '../../issues/recording/occurrence.ts'
import { bytesOfValues, type Fact } from '../../issues/search/facts.ts'
import { BoundedCache } from '../../platform/kernel/bounded-cache.ts'

type Values = {
  readonly parts: readonly GroupingPart[]
  readonly texts: Occurrence['indexedTexts']
  readonly facts: Occurrence['facts']
}

/**
 * Values of the newest event of each fingerprint, by the start of its hash. The next event says nearly the same: it keeps
 * these values instead of its own, which then are collected young. What events keep until their commit is what the
 * collector copies and marks; this is two thirds of it. `issues/search/write-index-terms.ts` keeps the same objects.
 */
const newest = new BoundedCache<number, Values>({
  maxEntries: 2_048,
  maxBytes: 8 * 1_048_576,
  bytesOf: ({ parts, texts, facts }) => bytesOfValues(facts, texts) + bytesOfParts(parts),
})
const KEY_BYTES = 6

/** Returns equal values; where the event before with this fingerprint had the same, they are the same objects. */
export function repeatedValues(
  hash: Buffer,
  parts: readonly GroupingPart[],
  texts: (string | null)[],
  facts: Fact[],
): Values {
  const key = hash.readUIntLE(0, KEY_BYTES)
  const before = newest.get(key)
  const values =
    before === undefined
      ? { parts, texts, facts }
      : {
          parts: areSameParts(parts, before.parts) ? before.parts : parts,
          texts: repeatedTexts(texts, before.texts),
          facts: repeatedFacts(facts, before.facts),
        }
  newest.set(key, values)
  return values
}

/** To be called after a user was erased. */
export function forgetRepeated(): void {
  newest.clear()
}

function bytesOfParts(parts: readonly GroupingPart[]): number {
  let bytes = 0
  for (const { values } of parts)
    bytes += bytesOfValues(
      [],
      values.map(({ value }) => value),
    )
  return bytes
}

// Loops with an index: this runs for every event, and takes a third of the time of iterators and callbacks.

function areSameParts(parts: readonly GroupingPart[], before: readonly GroupingPart[]): boolean {
  if (parts.length !== before.length) return false
  for (let at = 0; at < parts.length; at++) {
    const [a, b] = [parts[at], before[at]]
    if (a === undefined || b === undefined || a.variant !== b.variant || a.values.length !== b.values.length)
      return false
    for (let i = 0; i < a.values.length; i++)
      if (a.values[i]?.value !== b.values[i]?.value || a.values[i]?.label !== b.values[i]?.label) return false
  }
  return true
}

/** @param texts changed in place */
function repeatedTexts(texts: (string | null)[], before: Values['texts']): Values['texts'] {
  let same = 0
  for (let at = 0; at < texts.length; at++) {
    const other = before[at]
    if (other === undefined || texts[at] !== other) continue
    texts[at] = other
    same++
  }
  return same === before.length && same === texts.length ? before : texts
}

/** @param facts changed in place */
function repeatedFacts(facts: Fact[], before: Values['facts']): Values['facts'] {
  let same = 0
  for (let at = 0; at < facts.length; at++) {
    const [one, other] = [facts[at], before[at]]
    if (one === undefined || other === undefined || one[1] !== other[1] || one[0] !== other[0]) continue
    facts[at] = other
    same++
  }
  return same === before.length && same === facts.length ? before : facts
}
