import { unhyphenate } from '../../platform/kernel/ids.ts'

const TYPE = 'EndToEndTest'
const TITLE = /^EndToEndTest: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Title of the issue that the event of a run becomes. */
export const titleOfRun = (runId: string): string => `${TYPE}: ${runId}`

/** The run in the title of an issue; null for another one. */
export const runIdIn = (title: string): string | null => TITLE.exec(title)?.[1] ?? null

/** The envelope of a run, as an SDK sends it. Sent again, it is a duplicate; each run is an issue of its own. */
export function envelopeOfRun(runId: string, now: Date): Buffer {
  const event_id = unhyphenate(runId)
  const event = Buffer.from(
    JSON.stringify({
      event_id,
      timestamp: now.getTime() / 1_000,
      platform: 'other',
      level: 'error',
      environment: 'canary',
      fingerprint: ['canary', runId],
      exception: { values: [{ type: TYPE, value: runId }] },
      sdk: { name: 'faultline.canary', version: '1.0.0' },
    }),
  )
  const header = JSON.stringify({ event_id, sent_at: now.toISOString() })
  const item = JSON.stringify({ type: 'event', length: event.length })
  return Buffer.concat([Buffer.from(`${header}\n${item}\n`), event, Buffer.from('\n')])
}
