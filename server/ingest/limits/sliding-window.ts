const WINDOW_SECONDS = 60
const BURST_SECONDS = 10

/** Counts by second over the last minute, exact to a second. */
export class SlidingWindow {
  readonly #counts = new Uint32Array(WINDOW_SECONDS)
  #second = 0
  #total = 0

  /**
   * Takes the whole quantity if there is room for one: a container may hold more than a burst allows and would otherwise
   * never pass. Later items wait longer instead.
   * @returns 0, or the seconds until there is room; then nothing was taken
   */
  take(second: number, quantity: number, perMinute: number, perBurst: number): number {
    this.#moveTo(second)
    const wait = this.#wait(perMinute, perBurst)
    if (wait === 0) this.#count(second, quantity)
    return wait
  }

  /** Counts usage of another process. */
  add(second: number, quantity: number): void {
    this.#moveTo(second)
    this.#count(second, quantity)
  }

  /** Seconds until there is room for one. */
  wait(second: number, perMinute: number, perBurst: number): number {
    this.#moveTo(second)
    return this.#wait(perMinute, perBurst)
  }

  /** The used share of the fuller window; 1 is full. */
  fill(second: number, perMinute: number, perBurst: number): number {
    this.#moveTo(second)
    return Math.max(this.#total / perMinute, this.#sumOf(BURST_SECONDS) / perBurst)
  }

  isEmpty(second: number): boolean {
    this.#moveTo(second)
    return this.#total === 0
  }

  #count(second: number, quantity: number): void {
    // When the clock was set back, this counts in the latest second it had reached.
    const slot = Math.max(second, this.#second) % WINDOW_SECONDS
    this.#counts[slot] = (this.#counts[slot] ?? 0) + quantity
    this.#total += quantity
  }

  #wait(perMinute: number, perBurst: number): number {
    const burst = this.#sumOf(BURST_SECONDS)
    if (this.#total < perMinute && burst < perBurst) return 0
    return Math.max(
      this.#roomIn(WINDOW_SECONDS, this.#total - perMinute),
      this.#roomIn(BURST_SECONDS, burst - perBurst),
    )
  }

  #moveTo(second: number): void {
    if (second <= this.#second) return
    const steps = Math.min(second - this.#second, WINDOW_SECONDS)
    for (let step = 1; step <= steps; step++) {
      const slot = (second - steps + step) % WINDOW_SECONDS
      this.#total -= this.#counts[slot] ?? 0
      this.#counts[slot] = 0
    }
    this.#second = second
  }

  #sumOf(seconds: number): number {
    let sum = 0
    for (let back = 0; back < seconds; back++) sum += this.#at(back)
    return sum
  }

  #at(back: number): number {
    return this.#counts[(this.#second - back + WINDOW_SECONDS) % WINDOW_SECONDS] ?? 0
  }

  /** Seconds until more than `excess` have left the last `seconds`; 0 when there is room already. */
  #roomIn(seconds: number, excess: number): number {
    if (excess < 0) return 0
    let left = excess
    for (let back = seconds - 1; back >= 0; back--) {
      left -= this.#at(back)
      if (left < 0) return seconds - back
    }
    return seconds
  }
}
