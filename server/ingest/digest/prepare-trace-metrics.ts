import { readContainer } from '../../events/protocol/container.ts'
import { cleanMetric, readTraceMetric, type TraceMetric } from '../../events/protocol/trace-metric.ts'
import { withInferred } from './inferred-attributes.ts'
import type { Preparer } from './item.ts'
import { readEntries } from './prepare-entries.ts'

const CATEGORY = 'trace_metric'

/** A `trace_metric` container (docs/protocol.md §11.2). */
export const prepareTraceMetrics: Preparer = async (input) => {
  const container = readContainer(input.decoded, input.item)
  if ('invalid' in container)
    return [{ category: CATEGORY, quantity: container.count, outcome: 'invalid', reason: container.invalid }]
  const { kept, invalid } = await readEntries<TraceMetric>(input, {
    category: CATEGORY,
    entries: withInferred(container, input),
    surplus: container.surplus,
    clean: cleanMetric,
    read: readTraceMetric,
  })
  return kept.length === 0
    ? invalid
    : [{ category: CATEGORY, quantity: kept.length, kind: 'trace_metrics', fact: kept }, ...invalid]
}
