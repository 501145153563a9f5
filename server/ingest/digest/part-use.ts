/** For how long a part counts as shared after rows of several projects. */
const SHARED_MS = 10_000

/** Whether several projects use a part. */
export class PartUse {
  readonly #nowMs: () => number
  #last: number | null = null
  #sharedUntilMs = Number.NEGATIVE_INFINITY

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** There are rows of a project. */
  by(projectNumber: number): void {
    if (this.#last !== null && this.#last !== projectNumber) this.#sharedUntilMs = this.#nowMs() + SHARED_MS
    this.#last = projectNumber
  }

  /** Whether rows of different projects came within the last seconds. */
  get isShared(): boolean {
    return this.#nowMs() < this.#sharedUntilMs
  }
}
