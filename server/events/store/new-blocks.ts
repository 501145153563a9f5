import { utcDay } from '../../platform/kernel/day.ts'
import { BlockContent, type BlockLimits, MIN_NEW_BLOCK_EVENTS, NEW_BLOCK, packNewBlock, type Part } from './blocks.ts'
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
  // An error may have left bodies of other events.
  content.clear()
  const blocks: NewBlock[] = []
  for (const [day, ofDay] of Map.groupBy(events, (event) => utcDay(event.receivedAt))) {
    let parts = new Map<StoredEvent, Part>()
    const close = (): void => {
      if (content.events >= MIN_NEW_BLOCK_EVENTS) blocks.push({ day, body: packNewBlock(content.bytes), parts })
      content.clear()
      parts = new Map()
    }
    const small = ofDay.filter((event) => sizeOf(event) <= NEW_BLOCK.bytes / MIN_NEW_BLOCK_EVENTS).sort(byIssue)
    const sizes = evenly(small)
    for (const event of small) {
      const { body, encoding, bodyStart: start, bodyEnd: end } = event
      if (content.isFullFor({ start, end })) close()
      const part = content.add({ body, encoding, start, end })
      if (part !== null) parts.set(event, part)
      if (content.bytes.length >= sizes.bytes || content.events >= sizes.events) close()
    }
    close()
  }
  return blocks
}

const sizeOf = (event: StoredEvent): number => event.bodyEnd - event.bodyStart

/** The size of blocks with which the last one is as large as the others, so that it does not remain too small. */
function evenly(events: readonly StoredEvent[]): BlockLimits {
  const bytes = events.reduce((sum, event) => sum + sizeOf(event), 0)
  const blocks = Math.max(1, Math.ceil(bytes / NEW_BLOCK.bytes), Math.ceil(events.length / NEW_BLOCK.events))
  return { events: Math.ceil(events.length / blocks), bytes: bytes / blocks }
}

/** One per thread: a block is packed without interruption. */
const content = new BlockContent(NEW_BLOCK)

/** Events of one issue, and of one project, have most in common. */
function byIssue(a: StoredEvent, b: StoredEvent): number {
  const [left, right] = a.projectId === b.projectId ? [a.issueId, b.issueId] : [a.projectId, b.projectId]
  return left < right ? -1 : left > right ? 1 : 0
}
