/**
 * Runs at most `most` pieces of work per key at once; the rest wait their turn, in order.
 * Keys vanish with their last work.
 */
export function keyedQueue(most: number): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lanes = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async (key, work) => {
    const lane = lanes.get(key) ?? { running: 0, waiting: [] }
    lanes.set(key, lane)
    if (lane.running < most) lane.running++
    // The one that ends hands its place over, so `running` stays.
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
