import type { Fact } from '../issue-search/facts.ts'

/** Facts and texts of an issue's newest events, which need not be looked up. */
export type Repeated = {
  readonly facts: readonly Fact[]
  /** Of the newest event. */
  readonly texts: readonly (string | null)[]
  /** Of the newest event whose stack was read. */
  readonly stack: readonly (string | null)[]
}

/** Of a string, and its place in an array. */
const OVERHEAD_BYTES = 24

/**
 * What the newest events of issues said, in bounded memory: an event may have 100 kB of tags and frames. Forgets all
 * before it exceeds a limit.
 */
export class RepeatedEvents {
  readonly #maxIssues: number
  readonly #maxBytes: number
  readonly #byIssue = new Map<number, { readonly repeated: Repeated; readonly bytes: number }>()
  #bytes = 0

  constructor(limits: { readonly maxIssues: number; readonly maxBytes: number }) {
    this.#maxIssues = limits.maxIssues
    this.#maxBytes = limits.maxBytes
  }

  get(issue: number): Repeated | undefined {
    return this.#byIssue.get(issue)?.repeated
  }

  set(issue: number, repeated: Repeated): void {
    const bytes = bytesOf(repeated)
    const known = this.#byIssue.get(issue)
    this.#bytes += bytes - (known?.bytes ?? 0)
    if ((known === undefined && this.#byIssue.size >= this.#maxIssues) || this.#bytes > this.#maxBytes) {
      this.clear()
      this.#bytes = bytes
    }
    this.#byIssue.set(issue, { repeated, bytes })
  }

  clear(): void {
    this.#byIssue.clear()
    this.#bytes = 0
  }
}

/** About as many as they take. */
function bytesOf({ facts, texts, stack }: Repeated): number {
  let bytes = 0
  for (const [key, value] of facts) bytes += 2 * OVERHEAD_BYTES + key.length + value.length
  for (const text of stack === texts ? texts : [...texts, ...stack]) bytes += OVERHEAD_BYTES + (text?.length ?? 0)
  return bytes
}
