import type { Clock } from '#server/platform/kernel/clock.ts'

/** A clock that stands still until a test moves it. */
export type FakeClock = Clock & {
  set(time: Date | string): void
  advance(ms: number): void
}

export function fakeClock(start: Date | string = '2026-11-20T12:00:00.000Z'): FakeClock {
  let ms = new Date(start).getTime()
  const origin = ms
  return {
    now: () => new Date(ms),
    monotonicMs: () => ms - origin,
    set(time) {
      ms = new Date(time).getTime()
    },
    advance(by) {
      ms += by
    },
  }
}
