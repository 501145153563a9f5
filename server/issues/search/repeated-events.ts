import type { Fact } from './facts.ts'

/** Facts and texts of an issue's newest events, which need not be looked up. An event may have 100 kB of them. */
export type Repeated = {
  readonly facts: readonly Fact[]
  /** Of the newest event. */
  readonly texts: readonly (string | null)[]
  /** Of the newest event whose stack was read. */
  readonly stack: readonly (string | null)[]
}

/** Of a string, and its place in an array. */
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
