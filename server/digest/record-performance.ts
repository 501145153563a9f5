import { recordPerformance } from '../metrics/performance/record-performance.ts'
import type { PerformanceFact } from '../metrics/performance/fact.ts'
import { ACCEPTED, DUPLICATE } from '../outcomes/recorder.ts'
import type { Recorder } from '../outcomes/recorder.ts'

/** Transactions and spans into their series; what was recorded in the last days is a duplicate. */
export const recordPerformanceItems: Recorder<PerformanceFact> = async (_app, client, now, facts) => {
  const isNew = await recordPerformance(
    client,
    now,
    facts.map(({ fact }) => fact),
  )
  return isNew.map((one) => (one ? ACCEPTED : DUPLICATE))
}
