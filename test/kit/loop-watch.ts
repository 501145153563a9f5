/**
 * Measures how long the event loop is blocked at a stretch, in processor time of this thread: on a busy machine
 * wall-clock time is longer and a correct test would fail.
 */
export function watchLoop(): { longestHoldMs(): number; stop(): void } {
  let longestMs = 0
  let last = cpuMs()
  const timer = setInterval(() => {
    const now = cpuMs()
    longestMs = Math.max(longestMs, now - last)
    last = now
  }, 1)
  return {
    longestHoldMs: () => Math.max(longestMs, cpuMs() - last),
    stop: () => clearInterval(timer),
  }
}

/**
 * Processor time of this thread so far, for tests of what work costs: a busy machine makes everything slower, but no
 * more expensive.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
