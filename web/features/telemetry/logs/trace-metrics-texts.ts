import type { METRIC_AGGREGATES } from '../../../address/search.ts'
import { formatCount, plural } from '../../../ui/format.ts'

/** Texts of the explorer of trace metrics. */
export const traceMetricsTexts = {
  title: 'Trace metrics',
  what: 'Trace metrics',
  names: 'Metrics',
  find: 'Find a metric',
  noneFound: 'No metric of this name.',
  manyNames: 'Only the first 200 names are listed.',
  types: { counter: 'counter', gauge: 'gauge', distribution: 'distribution' },
  aggregates: {
    count: 'Count',
    sum: 'Sum',
    avg: 'Mean',
    min: 'Min',
    max: 'Max',
    p50: 'P50',
    p95: 'P95',
  } satisfies Record<(typeof METRIC_AGGREGATES)[number], string>,
  show: 'Value to show',
  groupBy: 'Group by',
  noGroup: 'Nothing',
  unit: (aggregate: string, interval: string, by: string | undefined) =>
    `${aggregate} per ${interval}${by === undefined ? '' : `, by ${by}`}`,
  rest: 'all others',
  without: 'without the attribute',
  all: 'All',
  measurements: (count: number) => `${formatCount(count)} ${plural(count, 'measurement', 'measurements')}`,
  chartLabel: (aggregate: string, name: string, value: string, count: number) =>
    `${aggregate} of ${name}: ${value} over ${formatCount(count)} ${plural(count, 'measurement', 'measurements')}`,
  fewForPercentiles: 'Percentiles need 20 measurements. Parts with fewer have no value.',
  searchedFrom: (at: string) =>
    `From the newest 100,000 measurements, back to ${at}. Choose a shorter time for all of them.`,
  tableOf: (title: string) => `${title}, table`,
  asTable: 'View as table',
  groups: 'Groups',
  group: 'Group',
  newest: 'Newest measurements',
  columns: { time: 'Time', value: 'Value', environment: 'Environment', attributes: 'Attributes', trace: 'Trace' },
  openTrace: 'Open trace',
  emptyTitle: 'No trace metrics in this time',
  emptyText:
    'An SDK sends counters, gauges and distributions with its traces, such as the depth of a queue. Choose a longer time, or send the first one.',
  logs: 'Logs',
} as const
