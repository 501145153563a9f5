import type { Dimension } from './vocabulary.ts'
import { differsByOne, splitQuestion, type Word } from './words.ts'

/** Values that a project has, by which questions may filter. Pure. */
export type KnownValues = {
  readonly release: readonly string[]
  readonly environment: readonly string[]
  readonly os: readonly string[]
  readonly device: readonly string[]
  readonly platform: readonly string[]
  readonly exception_type: readonly string[]
  /** Names of transactions that load a screen, and of the others. */
  readonly screen: readonly string[]
  readonly transaction: readonly string[]
}

type KnownDimension = keyof KnownValues

/** A value as it was found in a question, with the number of its words. */
type Found = { readonly dimension: Dimension; readonly values: readonly string[]; readonly length: number }

const VERSION = /^v?(\d+(?:\.\d+)+(?:[-+.][\w.+-]*)?)$/i
/** Words that are long enough for one wrong letter. */
const MISSPELT = /^\p{L}{6,}$/u
const MAX_WORDS = 8

/** In which order one text that is a value of several dimensions is understood. */
const ORDER: readonly KnownDimension[] = [
  'environment',
  'os',
  'release',
  'device',
  'platform',
  'exception_type',
  'screen',
  'transaction',
]

const partsOf = (value: string): string[] => splitQuestion(value).map(({ text }) => text.toLowerCase())

/** Finds known values in words, whatever their case. */
export class KnownIndex {
  readonly #byText = new Map<string, Map<KnownDimension, string[]>>()
  readonly #words = new Set<string>()
  /** The newest first. */
  readonly releases: readonly string[]

  constructor(known: KnownValues) {
    this.releases = known.release
    for (const dimension of ORDER)
      for (const value of known[dimension]) {
        this.#add(dimension, value, partsOf(value))
        // "The checkout screen" is `CheckoutScreen`.
        const spoken = value.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
        if (dimension === 'screen' && spoken !== value) this.#add(dimension, value, partsOf(spoken))
      }
  }

  #add(dimension: KnownDimension, value: string, parts: readonly string[]): void {
    if (parts.length === 0 || parts.length > MAX_WORDS) return
    const text = parts.join(' ')
    const found = this.#byText.get(text) ?? new Map<KnownDimension, string[]>()
    this.#byText.set(text, found)
    found.set(dimension, [...(found.get(dimension) ?? []), value])
    for (const part of parts) this.#words.add(part)
  }

  /** The one value of which a long word is a misspelling. */
  findMisspelt(text: string): Found | null {
    const word = text.toLowerCase()
    if (!MISSPELT.test(word)) return null
    const near = [...this.#byText.keys()].filter((value) => MISSPELT.test(value) && differsByOne(word, value))
    return near.length === 1 ? this.#of(near[0] ?? '', null, 1) : null
  }

  /** Whether a word is part of a value. */
  hasWord(word: string): boolean {
    return this.#words.has(word) || VERSION.test(word)
  }

  /** The longest value at a place. @param wanted the dimension that the words before name, if any */
  find(words: readonly Word[], at: number, wanted: Dimension | null): Found | null {
    const first = words[at]
    if (first === undefined) return null
    if (first.isQuoted) {
      const inside = partsOf(first.text)
      return this.#of(inside.join(' '), wanted, 1) ?? this.releaseOf(first.text, wanted)
    }
    for (let length = Math.min(MAX_WORDS, words.length - at); length > 0; length--) {
      const part = words.slice(at, at + length)
      if (part.some(({ isQuoted }) => isQuoted)) continue
      const text = part.map((word) => word.text.toLowerCase()).join(' ')
      const found = this.#of(text, wanted, length)
      if (found !== null) return found
      // "How many TypeErrors"
      const ofMany = text.endsWith('s') ? this.#of(text.slice(0, -1), 'exception_type', length) : null
      if (ofMany?.dimension === 'exception_type') return ofMany
    }
    return this.releaseOf(first.text, wanted)
  }

  #of(text: string, wanted: Dimension | null, length: number): Found | null {
    const found = this.#byText.get(text)
    if (found === undefined) return null
    for (const dimension of [wanted, ...ORDER]) {
      const values = ORDER.find((one) => one === dimension)
      const named = values === undefined ? undefined : found.get(values)
      if (named !== undefined && values !== undefined) return { dimension: values, values: named, length }
    }
    return null
  }

  /** Releases of a version: `4.12` finds `shop@4.12.0+77`. A whole number is a version only behind the word "release". */
  releaseOf(text: string, wanted: Dimension | null): Found | null {
    const version = VERSION.exec(text)?.[1] ?? (wanted === 'release' ? /^v?(\d[\w.+-]*)$/i.exec(text)?.[1] : undefined)
    if (version === undefined) return null
    const exact: string[] = []
    const longer: string[] = []
    for (const release of this.releases) {
      const bare = release.slice(release.lastIndexOf('@') + 1).replace(/^v(?=\d)/i, '')
      if (bare === version || bare.split('+', 1)[0] === version) exact.push(release)
      else if (bare.startsWith(version) && /[.+-]/.test(bare[version.length] ?? '')) longer.push(release)
    }
    const values = exact.length > 0 ? exact : longer
    return values.length === 0 ? null : { dimension: 'release', values, length: 1 }
  }
}
