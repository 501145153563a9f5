import { Cron } from 'croner'

const NEXT_RUNS = 5

/**
 * The next times that the service will expect of a crontab, as RFC 3339. Loaded on demand.
 * @throws Error for a crontab or a zone that the service refuses
 */
export const nextRuns = (crontab: string, timezone: string, after: Date): string[] =>
  new Cron(crontab, { timezone, paused: true, mode: '5-part' }).nextRuns(NEXT_RUNS, after).map((at) => at.toISOString())
