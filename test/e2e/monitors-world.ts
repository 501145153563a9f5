import type { CheckIn } from '#server/events/protocol/check-in.ts'
import { recordCheckIns } from '#server/telemetry/monitors/record-check-ins.ts'
import type { TestServer } from '../kit/test-server.ts'

/** Check-ins of the past, for tests of the dashboard: its services run on the real clock. */

const MINUTE_MS = 60_000

export const EVERY_FIVE: NonNullable<CheckIn['config']> = {
  schedule: { type: 'interval', value: 5, unit: 'minute' },
  timezone: 'UTC',
  checkinMarginMinutes: 2,
  maxRuntimeMinutes: 3,
  failureIssueThreshold: null,
  recoveryThreshold: null,
  owner: 'checkout',
}

export const NIGHTLY: NonNullable<CheckIn['config']> = {
  ...EVERY_FIVE,
  schedule: { type: 'crontab', value: '30 2 * * *' },
  timezone: 'Europe/Berlin',
}

type Past = Partial<Pick<CheckIn, 'status' | 'durationMs' | 'environment' | 'release' | 'traceId' | 'config'>> & {
  minutesAgo: number
}

/** Records runs of a job that ended in the past. */
export async function pastRuns(
  { app }: TestServer,
  projectId: string,
  slug: string,
  runs: readonly Past[],
  nowMs = Date.now(),
): Promise<void> {
  for (const { minutesAgo, ...fields } of runs) {
    const receivedAt = new Date(nowMs - minutesAgo * MINUTE_MS)
    const checkIn = {
      id: null,
      slug,
      status: 'ok' as const,
      durationMs: 41_000,
      environment: 'production',
      release: null,
      traceId: null,
      config: EVERY_FIVE,
      notes: [],
      ...fields,
      projectId,
      receivedAt,
    }
    await app.tx((tx) => recordCheckIns(tx, receivedAt, [checkIn]))
  }
}
