import type { App } from '../../platform/context/app.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { readTraceId } from '../../events/protocol/span.ts'
import { hasTrace } from './read.queries.ts'

/** The trace that an event belongs to, 32 hex digits; null when it has none, or when no span of it is kept. */
export async function findKeptTrace(
  app: App,
  projectId: string,
  event: Pick<Event, 'contexts'>,
): Promise<string | null> {
  const traceId = readTraceId(event.contexts['trace']?.['trace_id'])
  return traceId !== null && (await hasTrace(app.db, projectId, traceId)) ? traceId : null
}
