import type { Fact } from './facts.ts'

/** Facts and texts of an issue's newest events, which need not be looked up. An event may have 100 kB of them. */
export type Repeated = {
  readonly facts: readonly Fact[]
  /** Texts of the newest event. */
  readonly texts: readonly (string | null)[]
  /** Stack of the newest event whose stack was read. */
  readonly stack: readonly (string | null)[]
}

/** Bytes of a string object and of its place in an array. */
const OVERHEAD_BYTES = 24

/** About as many bytes as facts and texts take. */
export function bytesOfValues(facts: readonly Fact[], texts: readonly (string | null)[]): number {
  let bytes = 0
  for (const [key, value] of facts) bytes += 2 * OVERHEAD_BYTES + key.length + value.length
  for (const text of texts) bytes += OVERHEAD_BYTES + (text?.length ?? 0)
  return bytes
}

/** About as many bytes as it takes. */
export const bytesOfRepeated = ({ facts, texts, stack }: Repeated): number =>
  bytesOfValues(facts, texts) + (stack === texts ? 0 : bytesOfValues([], stack))
