import { AppError } from '../../platform/kernel/errors.ts'
import type { Category } from '../../events/protocol/envelope.ts'
import { announcedCount, parseEntries } from '../../events/protocol/container.ts'
import { otlpLogs, otlpSpans } from '../../events/protocol/otlp.ts'
import { decodeOtlp, PROTOBUF, type OtlpSignal } from '../../events/protocol/otlp-wire.ts'
import { readSpan } from '../../events/protocol/span.ts'
import type { ItemInput, Preparer, UnrecordedPart } from './item.ts'
import { prepareLogEntries } from './prepare-logs.ts'
import { prepareSpans } from './prepare-performance.ts'

/** Log records of an export request (docs/protocol.md §14). */
export const prepareOtlpLogs: Preparer = (input) => {
  const decoded = decodeRequest(input, 'logs', 'log_item')
  return 'outcome' in decoded ? [decoded] : prepareLogEntries(input, otlpLogs(decoded.value))
}

/** Spans of an export request, converted to the form of a v2 container. */
export const prepareOtlpTraces: Preparer = (input) => {
  const decoded = decodeRequest(input, 'traces', 'span')
  if ('outcome' in decoded) return [decoded]
  const { entries, surplus } = otlpSpans(decoded.value)
  const prepared = prepareSpans(input, entries.map(readSpan))
  return surplus === 0
    ? prepared
    : [...prepared, { category: 'span', quantity: surplus, outcome: 'invalid', reason: 'too_many' }]
}

function decodeRequest(
  { item, decoded }: ItemInput,
  signal: OtlpSignal,
  category: Category,
): { readonly value: unknown } | UnrecordedPart {
  const refused = (reason: string): UnrecordedPart => ({
    category,
    quantity: announcedCount(item),
    outcome: 'invalid',
    reason,
  })
  if (item.headers.content_type !== PROTOBUF) {
    const parsed = parseEntries(decoded, item.start, item.end)
    return 'invalid' in parsed ? refused(parsed.invalid) : parsed
  }
  try {
    return { value: decodeOtlp(decoded.subarray(item.start, item.end), signal) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.message.includes('deep')) return refused('too_deep')
    return refused(error.message.includes('more than') ? 'too_many_values' : 'not_protobuf')
  }
}
