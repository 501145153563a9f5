import type { CheckIn } from '../protocol/check-in.ts'
import type { LogEntry } from '../protocol/log.ts'
import type { TraceMetric } from '../protocol/trace-metric.ts'
import { recordCheckIns } from './record-check-ins.ts'
import { recordLogs } from './record-logs.ts'
import { recordTraceMetrics } from './record-trace-metrics.ts'
import { ACCEPTED, type Disposition, type Recorder } from '../outcomes/recorder.ts'

export const recordLogItems: Recorder<readonly LogEntry[]> = async (_app, client, _now, facts) => {
  await recordLogs(
    client,
    facts.flatMap(({ fact, filing }) => fact.map((entry) => ({ ...entry, ...receiptOf(filing) }))),
  )
  return null
}

export const recordTraceMetricItems: Recorder<readonly TraceMetric[]> = async (_app, client, _now, facts) => {
  await recordTraceMetrics(
    client,
    facts.flatMap(({ fact, filing }) => fact.map((metric) => ({ ...metric, ...receiptOf(filing) }))),
  )
  return null
}

const TOO_MANY_MONITORS: Disposition = { outcome: 'invalid', reason: 'too_many_monitors' }

export const recordCheckInItems: Recorder<CheckIn> = async (_app, client, now, facts) => {
  const recorded = await recordCheckIns(
    client,
    now,
    facts.map(({ fact, filing }) => ({ ...fact, ...receiptOf(filing) })),
  )
  return recorded.map((isRecorded) => (isRecorded ? ACCEPTED : TOO_MANY_MONITORS))
}

const receiptOf = ({ projectId, receivedAt }: { readonly projectId: string; readonly receivedAt: Date }) => ({
  projectId,
  receivedAt,
})
