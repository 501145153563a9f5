import { dayOf } from '../kernel/day.ts'
import { jsonOf, MIN_NEW_BLOCK_EVENTS, NEW_BLOCK, packNewBlock, type Part } from './blocks.ts'
import type { StoredEvent } from './event.ts'

/** A block that is not stored yet, with the place of each event in it. */
export type NewBlock = {
  readonly day: string
  readonly body: Buffer
  readonly parts: ReadonlyMap<StoredEvent, Part>
}

/**
 * Packs bodies of a batch into blocks, by day, project and issue. What is too large, cannot be decoded, or would be in
 * a block of a few is in none.
 */
export function newBlocks(events: readonly StoredEvent[]): NewBlock[] {
  if (events.length < MIN_NEW_BLOCK_EVENTS) return []
  const blocks: NewBlock[] = []
  for (const [day, ofDay] of Map.groupBy(events, (event) => dayOf(event.receivedAt))) {
    let jsons: Buffer[] = []
    let parts = new Map<StoredEvent, Part>()
    let bytes = 0
    const close = (): void => {
      if (jsons.length >= MIN_NEW_BLOCK_EVENTS) blocks.push({ day, body: packNewBlock(jsons), parts })
      jsons = []
      parts = new Map()
      bytes = 0
    }
    for (const event of ofDay.toSorted(byIssue)) {
      const { bodyStart, bodyEnd } = event
      if (bodyEnd - bodyStart > NEW_BLOCK.bytes / MIN_NEW_BLOCK_EVENTS) continue
      const json = jsonOf({ ...event, start: bodyStart, end: bodyEnd })
      if (json === null) continue
      if (jsons.length >= NEW_BLOCK.events || bytes + json.length > NEW_BLOCK.bytes) close()
      parts.set(event, { start: bytes, end: bytes + json.length })
      jsons.push(json)
      bytes += json.length
    }
    close()
  }
  return blocks
}

/** Events of one issue, and of one project, have most in common. */
function byIssue(a: StoredEvent, b: StoredEvent): number {
  const [left, right] = a.projectId === b.projectId ? [a.issueId, b.issueId] : [a.projectId, b.projectId]
  return left < right ? -1 : left > right ? 1 : 0
}
