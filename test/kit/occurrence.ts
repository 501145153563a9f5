import { prepareEvent } from '#server/ingest/digest/prepare-event.ts'
import type { ProjectFactsReader } from '#server/ingest/digest/project-facts.ts'
import type { Occurrence } from '#server/issues/recording/occurrence.ts'
import { newEventId } from './sdk.ts'

/** The occurrence that digestion records of an event. @throws Error when the project is missing, or drops the event */
export async function anOccurrence(
  facts: ProjectFactsReader,
  projectId: string,
  event: Readonly<Record<string, unknown>>,
  receivedAt: Date,
): Promise<Occurrence> {
  const project = await facts.of(projectId)
  if (project === null) throw new Error('no project')
  const decoded = Buffer.from(JSON.stringify(event))
  const prepared = prepareEvent(
    {
      eventId: newEventId(),
      receivedAt,
      sentAt: null,
      clientIp: null,
      userAgent: null,
      decoded,
      start: 0,
      end: decoded.length,
      original: null,
    },
    project,
  )
  if ('outcome' in prepared) throw new Error(prepared.reason)
  return prepared.occurrence
}
