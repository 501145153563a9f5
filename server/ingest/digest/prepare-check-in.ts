import { readCheckIn } from '../../events/protocol/check-in.ts'
import { parseEntries } from '../../events/protocol/container.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { scrubEvent } from '../../events/protocol/scrub.ts'
import type { Preparer } from './item.ts'

const ONE = { category: 'monitor', quantity: 1 } as const

/** A `check_in` item (docs/protocol.md §11.3). */
export const prepareCheckIn: Preparer = ({ decoded, item, project }) => {
  const parsed = parseEntries(decoded, item.start, item.end)
  if ('invalid' in parsed) return [{ ...ONE, outcome: 'invalid', reason: parsed.invalid }]
  const { value } = parsed
  if (isRecord(value)) scrubEvent(value, project.scrubbing)
  const checkIn = readCheckIn(value, project.defaultEnvironment)
  return 'invalid' in checkIn
    ? [{ ...ONE, outcome: 'invalid', reason: checkIn.invalid }]
    : [{ ...ONE, kind: 'check_in', fact: checkIn }]
}
