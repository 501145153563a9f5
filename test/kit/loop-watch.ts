/**
 * Watches how long the event loop is held at a stretch, in processor time of this thread: a machine busy with other
 * things stretches wall-clock time and would fail an innocent test.
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
 * Processor time of this thread so far, for tests of what work costs: a machine busy with other things makes everything
 * slow, but nothing cost more.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
