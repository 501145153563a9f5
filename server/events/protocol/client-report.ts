import { CATEGORIES, type Category } from './envelope.ts'
import { isList, isRecord } from './json.ts'

/** Lists of a client report (docs/protocol.md §5.3); a relay in between adds the last ones. */
const LISTS = [
  ['discarded_events', 'discarded'],
  ['rate_limited_events', 'rate_limited'],
  ['filtered_events', 'filtered'],
  ['filtered_sampling_events', 'filtered_sampling'],
] as const

type LossKind = (typeof LISTS)[number][1]

/** A quantity of items that were dropped before they reached us. */
export type ClientLoss = {
  readonly kind: LossKind
  /** As sent, at most 64 characters. */
  readonly reason: string
  readonly category: Category
  readonly quantity: number
}

const MAX_REASON_CHARACTERS = 64
const MAX_LOSSES = 1_000
/** Larger quantities are not credible. */
const MAX_QUANTITY = 1_000_000_000
const KNOWN = new Set<string>(CATEGORIES)

const isCategory = (text: unknown): text is Category => typeof text === 'string' && KNOWN.has(text)

/**
 * Reads a client report. Leaves out invalid elements; an unknown category counts as `default`.
 * @returns null when it is no report, or has elements but no valid one
 */
export function readClientReport(value: unknown): readonly ClientLoss[] | null {
  if (!isRecord(value)) return null
  const losses: ClientLoss[] = []
  let elements = 0
  for (const [field, kind] of LISTS) {
    const list = value[field]
    if (list === undefined || list === null) continue
    if (!isList(list)) return null
    for (const element of list) {
      if (++elements > MAX_LOSSES) return losses
      const loss = readLoss(kind, element)
      if (loss !== null) losses.push(loss)
    }
  }
  return elements > 0 && losses.length === 0 ? null : losses
}

function readLoss(kind: LossKind, element: unknown): ClientLoss | null {
  if (!isRecord(element)) return null
  const { reason, category, quantity } = element
  if (typeof reason !== 'string' || typeof quantity !== 'number') return null
  if (!Number.isSafeInteger(quantity) || quantity < 0 || quantity > MAX_QUANTITY) return null
  return {
    kind,
    reason: reason
      .replaceAll(/[\u0000-\u001f\u007f\ud800-\udfff]/g, '')
      .slice(0, MAX_REASON_CHARACTERS)
      .trim(),
    category: isCategory(category) ? category : 'default',
    quantity,
  }
}
