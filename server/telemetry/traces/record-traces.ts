import { utcDay } from '../../platform/kernel/day.ts'
import type { FactInContext, ItemOutcome, Recorder } from '../../events/items/recorder.ts'
import type { Tx } from '../../platform/storage/database.ts'
import * as sql from './record.queries.ts'
import type { TraceFact } from './trace-part.ts'

/** Stores the parts of traces; the job of select-traces.ts decides later which of them are kept. */
export const traceRecorder: Recorder<TraceFact> = async (tx, { at: now }, facts) => {
  const sums = new Map<string, { projectId: string; segments: number; considered: number }>()
  const parts: sql.ReceivedPart[] = []
  for (const { fact, context } of facts) {
    const { projectId } = context
    const sum = sums.get(projectId) ?? { projectId, segments: 0, considered: 0 }
    sum.segments += fact.segments
    if (fact.part !== null) {
      sum.considered += fact.segments
      parts.push({ ...fact.part, projectId })
    }
    sums.set(projectId, sum)
  }
  const today = utcDay(now)
  await sql.addToDays(
    tx,
    today,
    [...sums.values()].sort((a, b) => (a.projectId < b.projectId ? -1 : 1)),
  )
  if (parts.length > 0) await sql.insertParts(tx, today, now, parts)
  return null
}

/** An event of a trace. */
type Traced = {
  readonly trace: { readonly traceId: string; readonly spanId: string | null } | null
  readonly event: { readonly eventId: string; readonly occurredAt: Date }
}

/** Remembers which traces hold one of the accepted events. @param outcomes of the events; null: all are accepted */
export function recordTraceErrors(
  tx: Tx,
  now: Date,
  facts: readonly FactInContext<Traced>[],
  outcomes: readonly ItemOutcome[] | null,
): void {
  const errors: sql.TraceError[] = []
  for (const [index, { fact, context }] of facts.entries()) {
    if (fact.trace === null || (outcomes !== null && outcomes[index]?.outcome !== 'accepted')) continue
    const { eventId, occurredAt } = fact.event
    errors.push({ projectId: context.projectId, ...fact.trace, eventId, occurredAt })
  }
  if (errors.length > 0) sql.insertTraceErrors(tx, utcDay(now), errors)
}
