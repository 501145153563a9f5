import type { TriggerType } from '#shared/alert-rules.ts'
import type { Evaluator } from './evaluator.ts'
import { batteryDrain } from './battery-drain.ts'
import { criticalPath } from './critical-path.ts'
import { monitorRuns } from './monitor-runs.ts'
import { performanceThreshold } from './performance-threshold.ts'
import { preCrashState } from './pre-crash-state.ts'
import { spikes } from './spikes.ts'

/** How each trigger that is no fact is measured. */
export const EVALUATORS: ReadonlyMap<TriggerType, Evaluator> = new Map([
  ['issue_spike', spikes],
  ['pre_crash_state', preCrashState],
  ['battery_drain_threshold', batteryDrain],
  ['performance_threshold', performanceThreshold],
  ['critical_path', criticalPath],
  ['monitor', monitorRuns],
])
