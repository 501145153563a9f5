import type { LogLevel } from '../../../api/log-queries.ts'
import { counted, formatCount, formatShortCount, plural } from '../../../ui/format.ts'
import type { Range } from '../../../address/search.ts'

const IN_RANGE: Readonly<Record<Range, string>> = {
  '1h': 'in the last hour',
  '24h': 'in the last 24 hours',
  '7d': 'in the last 7 days',
  '30d': 'in the last 30 days',
}

const lines = (count: number): string => `${formatCount(count)} ${plural(count, 'line', 'lines')}`

/** Texts of the page of logs. */
export const logsTexts = {
  title: 'Logs',
  what: 'Logs',
  inRange: (range: Range) => IN_RANGE[range],
  shown: (count: number, when: string) => `${lines(count)} ${when}`,
  shownOf: (shown: number, all: number, when: string) =>
    `${formatCount(shown)} of ${formatShortCount(all)} lines ${when}`,
  inWindow: (window: string) => `from ${window}`,
  liveTail: 'Live tail',
  metrics: 'Trace metrics',

  search: 'Search logs',
  placeholder: 'Words, attribute=value, trace id',
  searchKey: 'Search logs',
  filter: 'Filter',
  filters: 'Filters',
  clear: 'Clear filters',
  removeFilter: (name: string) => `Remove filter ${name}`,
  chips: { level: 'level', trace: 'trace', time: 'time', not: (name: string) => `not ${name}` },
  levels: 'Level',
  levelNames: {
    fatal: 'fatal',
    error: 'error',
    warn: 'warn',
    info: 'info',
    debug: 'debug',
    trace: 'trace',
  } satisfies Record<LogLevel, string>,
  levelCount: (count: number) => lines(count),
  attributesOf: (count: number) =>
    count === 0 ? 'No attributes.' : `Counted in the newest ${counted(count, 'line', 'lines')} that match.`,
  moreAttributes: (count: number) => counted(count, 'more attribute', 'more attributes'),
  valuesMore: (count: number) => `and ${counted(count, 'more value', 'more values')}`,

  volume: 'Lines',
  volumePer: (interval: string) => `per ${interval}, by level`,
  series: { error: 'error', warn: 'warn', info: 'info', low: 'debug and trace' },
  legend: (name: string, count: number) => `${name} ${formatShortCount(count)}`,
  volumeLabel: (total: number, errors: number, when: string) =>
    `${lines(total)} ${when}, ${formatCount(errors)} of them errors`,
  volumeNone: 'No line in this time.',
  errorsShare: (errors: number, all: number) =>
    errors === 0 ? 'No errors.' : `${formatCount(errors)} of ${formatCount(all)} lines are errors.`,
  searchedFrom: (at: string) =>
    `The search read the newest 100,000 lines, back to ${at}. Choose a shorter or earlier time to read others.`,

  lines: 'Lines',
  list: 'Log lines',
  next: 'Next line',
  previous: 'Previous line',
  openTraceKey: 'Open the trace of the line',
  openIssueKey: 'Open the issue of the line',
  aroundKey: 'Show lines around it',
  copyKey: 'Copy the line as JSON',
  showMore: 'Show more',
  trace: 'trace',
  openTrace: (id: string) => `Open trace ${id.slice(0, 8)}`,
  inThisTrace: (shortId: string) => `${shortId} in this trace`,
  around: 'Lines around it',
  copyJson: 'Copy JSON',
  copied: 'Line copied',
  only: (name: string, value: string) => `Only ${name} ${value}`,
  without: (name: string, value: string) => `Without ${name} ${value}`,
  message: 'Message',
  facts: 'Attributes of the line',
  moreFacts: (count: number) => `Show ${counted(count, 'more attribute', 'more attributes')}`,
  noteOf: (name: string, reason: string) => `${name}: ${reason}`,

  showNew: 'Show new lines',
  waiting: (count: number, at: string) => `${counted(count, 'new line', 'new lines')} since ${at}`,
  waitingLive: (count: number) => `${counted(count, 'new line', 'new lines')}, go to the top`,
  following: 'Following. New lines appear at the top.',
  held: 'Held while you read. New lines wait.',
  rate: (perSecond: number) => `${formatCount(perSecond)} lines a second`,
  leftOut: (count: number) =>
    `${formatCount(count)} ${plural(count, 'line was', 'lines were')} too many to follow. Filter, or read them without live tail.`,
  tailFailed: 'Live tail has lost the connection. It tries again.',

  aroundTitle: (at: string) => `Lines around ${at}`,
  aroundText: 'Fifty before and fifty after, of every level.',
  backToList: 'Back to the filters',

  emptyTitle: 'No logs yet',
  emptyText:
    'Lines appear here as soon as the app sends them: switch on logs in its SDK, or send OpenTelemetry logs to this project.',
  setUp: 'Set up the SDK',
  emptyTime: (when: string) => `No line ${when}`,
  emptyTimeText: (at: string) => `The last line came on ${at}.`,
  showLast: 'Show the last lines',
  emptyFiltered: 'No line matches these filters',
  emptyFilteredText: 'Remove a filter, or choose a longer time.',
} as const
