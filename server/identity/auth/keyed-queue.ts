/**
 * Runs at most `max` tasks per key in parallel. The others wait in order. A key is removed with its last task.
 */
export function keyedQueue(max: number): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lanes = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async (key, work) => {
    const lane = lanes.get(key) ?? { running: 0, waiting: [] }
    lanes.set(key, lane)
    if (lane.running < max) lane.running++
    // A task that ends passes its place on, so `running` does not change.
    else
      await new Promise<void>((resolve) => {
        lane.waiting.push(resolve)
      })
    try {
      return await work()
    } finally {
      const next = lane.waiting.shift()
      if (next === undefined) {
        lane.running--
        if (lane.running === 0) lanes.delete(key)
      } else next()
    }
  }
}
