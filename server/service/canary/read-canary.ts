import type { App } from '../../platform/context/app.ts'
import type { CanaryReport } from './canary.api.ts'
import { selectReport } from './canary.queries.ts'

/** The result of the end-to-end test, as the processes that watch it have stored it. */
export async function readCanary({ db, config }: App): Promise<CanaryReport> {
  const { state, failed_step, explanation, ...times } = await selectReport(db)
  const interval_minutes = config.canaryMinutes
  if (interval_minutes === 0) return { state: 'off', failed_step: null, explanation: '', ...times, interval_minutes }
  return { state, failed_step, explanation, ...times, interval_minutes }
}
