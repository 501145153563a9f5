import { formatCount, formatDuration } from '../../../ui/format.ts'

export const traceTexts = {
  title: 'Trace',
  issues: 'Issues',
  lead: (spans: number, durationMs: number) =>
    `${formatCount(spans)} ${spans === 1 ? 'span' : 'spans'} in ${formatDuration(durationMs)}`,
  unnamed: 'Trace without a transaction',
  missing: 'This trace is not stored',
  missingText:
    'For seven days, Faultline keeps the spans of traces with an error, and of the three slowest traces per transaction and hour.',
  back: 'Go to issues',
  kept: {
    error: 'Kept because it contains an error.',
    slow: 'Kept because it is one of the slowest of its transaction in that hour.',
    recent: 'Arrived in the last few minutes. Faultline decides shortly whether to keep it.',
  },
  sampling: (kept: number, transactions: number) =>
    `${formatCount(kept)} ${kept === 1 ? 'trace' : 'traces'} kept of ${formatCount(transactions)} ${transactions === 1 ? 'transaction' : 'transactions'} that day.`,
  considered: (considered: number) => `Too many traces arrived: ${formatCount(considered)} were considered.`,
  leftOut: (spans: number) => `${formatCount(spans)} more spans are not shown.`,
  waterfall: 'Waterfall',
  span: 'Span',
  duration: 'Duration',
  timeline: 'Time',
  after: (duration: string) => `Starts after ${duration}`,
  under: (duration: string) => `<${duration}`,
  failed: 'Failed',
  orphan: 'Its parent span was not received here.',
  noData: 'This span has no attributes.',
  errors: 'Errors in this trace',
  copyId: 'Copy trace ID',
  idCopied: 'Trace ID copied',
} as const
