import type { NativeFrame } from '../native/find-frames.ts'
import type { Reading } from '../proguard/retrace-frame.ts'
import type { SourcePosition } from '../source-maps/find-source.ts'

/**
 * An index in memory: its directory, and answers that look-ups found in its parts. Crashes repeat, and their places with
 * them: an answer takes a hundredth of the memory of a part and of the time of a look-up.
 */
export class OpenIndex {
  readonly directory: Buffer
  /** Positions of a source map, by a number that stands for line and column. */
  readonly positions = new Answers<number, SourcePosition | null>((position) =>
    position === null ? 0 : lengthOf(position.source, position.name, position.functionName),
  )
  /** Lines of source that decide groups, by the same number. */
  readonly lines = new Answers<number, string | null>(lengthOf)
  /** Frames of a mapping, by class, method, line and file. */
  readonly readings = new Answers<string, readonly Reading[]>((readings) => sum(readings, lengthOfReading))
  /** Original names of classes. */
  readonly classes = new Answers<string, string | null>(lengthOf)
  /** Original names in texts, by the name and the character behind it. */
  readonly names = new Answers<string, string | null>(lengthOf)
  /** Calls of a debug file, by address. */
  readonly chains = new Answers<number, readonly NativeFrame[]>((chain) =>
    sum(chain, ({ functionName, rawName, file }) => OBJECT_BYTES + lengthOf(functionName, rawName, file)),
  )

  constructor(directory: Buffer) {
    this.directory = directory
  }

  get sizeBytes(): number {
    const { positions, lines, readings, classes, names, chains } = this
    const answers = positions.bytes + lines.bytes + readings.bytes + classes.bytes + names.bytes + chains.bytes
    return this.directory.length + answers
  }
}

/** About what an object takes, without its texts. */
const OBJECT_BYTES = 120
const MAX_BYTES = 4 * 1024 * 1024
/** A larger answer is not remembered: a few of them would displace all others. */
const MAX_ANSWER_BYTES = 16 * 1024

/** Answers in bounded memory. They are forgotten together when there are too many: finding them again costs little. */
class Answers<K extends string | number, V> {
  readonly #answers = new Map<K, V>()
  readonly #lengthOf: (value: V) => number
  bytes = 0

  /** @param lengthOf characters of the texts of an answer */
  constructor(lengthOf: (value: V) => number) {
    this.#lengthOf = lengthOf
  }

  /**
   * The answers of keys, in their order. A key of null is not remembered.
   * @param find finds the answers of unknown keys, in the order of their places
   */
  async of(
    keys: readonly (K | null)[],
    find: (places: readonly number[]) => Promise<readonly V[]>,
  ): Promise<readonly (V | undefined)[]> {
    const answers = keys.map((key) => (key === null ? undefined : this.#answers.get(key)))
    const unknown = answers.flatMap((answer, place) => (answer === undefined ? [place] : []))
    if (unknown.length === 0) return answers
    for (const [n, found] of (await find(unknown)).entries()) {
      const place = unknown[n] ?? 0
      answers[place] = found
      const key = keys[place] ?? null
      if (key !== null) this.#remember(key, found)
    }
    return answers
  }

  #remember(key: K, value: V): void {
    const bytes = OBJECT_BYTES + (typeof key === 'string' ? key.length : 0) + this.#lengthOf(value)
    if (bytes > MAX_ANSWER_BYTES) return
    if (this.bytes + bytes > MAX_BYTES) {
      this.#answers.clear()
      this.bytes = 0
    }
    this.#answers.set(key, value)
    this.bytes += bytes
  }
}

const sum = <T>(list: readonly T[], of: (one: T) => number): number => list.reduce((total, one) => total + of(one), 0)

const lengthOf = (...texts: readonly (string | null)[]): number => sum(texts, (text) => text?.length ?? 0)

const lengthOfReading = ({ frames }: Reading): number =>
  sum(frames, ({ className, method, file }) => OBJECT_BYTES + lengthOf(className, method, file))
