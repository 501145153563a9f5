import { counted, formatCount, formatDuration, MINUTE_MS, plural } from '../../../ui/format.ts'
import type { RunFilter } from '../../../address/search.ts'
import type { RunKind, ShownState } from './model.ts'

const KINDS: Readonly<Record<RunKind, string>> = {
  ok: 'OK',
  late: 'Late',
  long: 'Long',
  failed: 'Failed',
  missed: 'Missed',
  running: 'Running',
}
const minutes = (count: number): string => formatDuration(count * MINUTE_MS)

/** Texts of the pages of monitors. */
export const monitorsTexts = {
  title: 'Monitors',
  one: 'Monitor',
  what: 'Monitors',
  views: 'Views',
  all: 'All',
  attention: 'Needs attention',
  environment: 'Environment',
  allEnvironments: 'All environments',
  showMore: 'Show more',
  next: 'Next monitor',
  previous: 'Previous monitor',

  checkIns: 'Check-ins',
  checkInsMore: 'jobs that report to Faultline when they start and end',
  columns: {
    job: 'Job',
    schedule: 'Schedule',
    runs: 'Last 30 runs',
    lastRun: 'Last run',
    nextRun: 'Next run',
    state: 'State',
  },
  kinds: KINDS,
  states: { ...KINDS, waiting: 'Waiting', paused: 'Paused', muted: 'Muted' } satisfies Record<
    ShownState | RunKind,
    string
  >,
  noSchedule: 'No schedule',
  graceAndLimit: (graceMinutes: number, limitMinutes: number) =>
    `grace ${minutes(graceMinutes)}, limit ${minutes(limitMinutes)}`,
  limitOnly: (limitMinutes: number) => `limit ${minutes(limitMinutes)}`,
  /** The accessible name of the bars of runs. */
  runsLabel: (total: number, counts: readonly (readonly [kind: RunKind, count: number])[]) => {
    if (total === 0) return 'No runs yet'
    const [first] = counts
    const name = total === 1 ? 'Last run' : `Last ${total} runs`
    if (counts.length === 1 && first !== undefined)
      return `${name}: ${total === 1 ? '' : 'all '}${inSentence(first[0])}`
    return `${name}: ${counts.map(([kind, count]) => `${count} ${inSentence(kind)}`).join(', ')}`
  },
  noRun: 'no run yet',
  took: (duration: string) => `took ${duration}`,
  running: (duration: string) => `running, ${duration}`,
  in: (left: string) => `in ${left}`,
  due: 'due now',
  notPlanned: 'not planned',
  unknownNext: 'unknown',

  inARow: (count: number, since: string) => `${count} in a row, since ${since}`,
  since: (since: string) => `since ${since}`,
  tolerated: (count: number, threshold: number) => `${count} in a row, fails at ${threshold}`,
  recovering: (good: number, needed: number) => `${good} of ${needed} good runs`,
  overLimit: (duration: string) => `${duration} over its limit`,
  lateEndedWell: (duration: string) => `${duration}, ended well`,
  lateRunning: (duration: string) => `${duration}, running`,
  waiting: 'no run has ended yet',

  emptyTitle: 'No check-ins yet',
  emptyText:
    'A monitor watches a scheduled job, such as a backup or an import. The first check-in of the job creates its monitor.',
  emptyFiltered: 'No monitor needs attention',
  emptyFilteredText: 'Every job that is judged runs as planned.',
  emptyEnvironment: (name: string) => `No monitor in ${name}`,
  showAll: 'Show all monitors',
  emptyMore:
    'An SDK or the command line tool sends check-ins too. A check-in may carry the schedule: Faultline then knows when a run is missed.',
  withCurl: 'Send the first check-in',
  withSdk: 'With the Node SDK',
  copied: 'Copied.',

  missing: 'This monitor does not exist',
  missingText: 'It was deleted, or you have no access. A later check-in of the job creates it again.',
  back: 'Go to monitors',

  mute: 'Mute',
  unmute: 'Unmute',
  pause: 'Pause',
  resume: 'Resume',
  edit: 'Edit',
  more: 'More actions',
  delete: 'Delete',
  deleteEntry: 'Delete monitor…',
  deleteTitle: 'Delete this monitor?',
  deleteText: (slug: string) =>
    `${slug} is deleted with all its runs. This cannot be undone. A later check-in of the job creates the monitor again.`,
  deleted: (slug: string) => `${slug} is deleted.`,
  notDeleted: 'Could not delete the monitor.',
  moved: {
    active: (slug: string) => `${slug} is judged again.`,
    paused: (slug: string) => `${slug} is paused.`,
    muted: (slug: string) => `${slug} is muted.`,
  },
  notMoved: 'Could not change the monitor.',

  stateInARow: (state: string, count: number) => (count > 1 ? `${state}, ${count} in a row` : state),
  nextRun: (at: string, left: string) => `next ${at}, in ${left}`,
  environmentOf: (name: string) => `Environment ${name}`,

  pausedTitle: 'Paused.',
  pausedText: 'No run is expected, and none of the time of the pause is missed afterwards.',
  mutedTitle: 'Muted.',
  mutedText: 'Runs are judged and shown. No alert fires.',
  noCheckIn: (times: string, count: number) =>
    count < 3 ? `No check-in at ${times}.` : `No check-in ${times}: ${formatCount(count)} runs in a row.`,
  failedTitle: (times: string, count: number) =>
    count === 1 ? `The run at ${times} failed.` : `${formatCount(count)} runs in a row failed, the newest at ${times}.`,
  longTitle: (times: string, isRunning: boolean, over: string) =>
    isRunning
      ? `The run of ${times} has not ended. It is ${over} over its limit.`
      : `The run of ${times} took ${over} longer than its limit.`,
  lateTitle: (times: string, late: string) => `The run at ${times} began ${late} after its time.`,
  lastGood: (at: string) => `The last good run began at ${at}.`,
  noneGood: 'None of the runs shown was good.',
  releaseBetween: (release: string) => `Release ${release} is the first that went wrong.`,
  goodAgain: (good: number, needed: number) =>
    `${counted(good, 'run was', 'runs were')} good since. The monitor recovers after ${needed} in a row.`,
  span: (first: string, last: string) => `from ${first} to ${last}`,
  and: (first: string, second: string) => `${first} and ${second}`,

  figures: 'Runs in numbers',
  expected: (count: number) => plural(count, 'Run', 'Runs'),
  median: 'Median',
  p95: 'P95',
  chart: 'Time that runs took',
  chartFinding: (count: number, problems: number, median: string) =>
    `${counted(count, 'run', 'runs')}, ${problems} not OK, half of them took up to ${median}`,
  limitLine: (limit: string) => `limit ${limit}`,
  viewAsTable: 'View as table',
  chartHead: ['Run', 'State', 'Took'],

  runs: 'Runs',
  runsTable: 'Runs, table',
  runsFilter: 'Runs to show',
  filters: { problems: 'Not OK', missed: 'Missed', failed: 'Failed', long: 'Long', late: 'Late' } satisfies Record<
    RunFilter,
    string
  >,
  runColumns: {
    expected: 'Expected',
    state: 'State',
    started: 'Started',
    took: 'Took',
    note: 'Note',
    release: 'Release',
    trace: 'Trace',
  },
  noCheckInCell: 'no check-in',
  unplanned: 'not planned',
  afterTime: (duration: string) => `${duration} after its time`,
  overTheLimit: (duration: string) => `${duration} over the limit`,
  decidedAt: (at: string) => `missed at ${at}`,
  noRunsOf: 'No run of this kind',
  openTrace: 'Open trace',
  showAllRuns: (count: number) => `Show all ${formatCount(count)} runs`,
  shownRuns: (shown: number, all: number) => `${formatCount(shown)} of ${formatCount(all)} runs`,

  rule: 'Alert rule',
  ruleNone: 'No rule watches this monitor: no alert fires when it fails.',
  ruleWatches: 'These rules fire when the monitor fails:',
  ruleOff: 'off',
  newRule: 'New rule',
  send: 'Send check-ins',
  sendNote: 'A check-in that carries a schedule replaces the settings below.',
  languages: 'Language',

  settings: 'Settings',
  schedule: 'Schedule',
  timezone: 'Time zone',
  grace: 'Grace',
  limit: 'Limit',
  failsAfter: 'Fails after',
  recoversAfter: 'Recovers after',
  badRuns: (count: number) => `${counted(count, 'run', 'runs')} in a row`,
  owner: 'Owner',
  noOwner: 'none given',
  madeBy: 'First check-in',
  nextRuns: 'Next runs',
  byInterval: 'Counted from the start of the run before.',

  editTitle: 'Edit monitor',
  editNote: 'A check-in that carries a schedule replaces what you set here.',
  form: {
    kind: 'Schedule',
    crontab: 'Crontab',
    interval: 'Interval',
    none: 'None: only reported runs count',
    crontabHint: 'Five fields, such as 30 2 * * * for every day at 02:30.',
    every: 'Every',
    unit: 'Unit',
    units: { minute: 'minutes', hour: 'hours', day: 'days', week: 'weeks', month: 'months', year: 'years' },
    timezoneHint: 'A name such as Europe/Berlin.',
    grace: 'Grace in minutes',
    graceHint: 'How late a run may begin. 1 unless given.',
    limit: 'Limit in minutes',
    limitHint: 'How long a run may take. 30 unless given.',
    failures: 'Fails after so many bad runs',
    recoveries: 'Recovers after so many good runs',
    wrong: (min: number, max: number) => `Enter a whole number from ${min} to ${formatCount(max)}.`,
    crontabWrong: 'Enter a crontab with five fields.',
    timezoneWrong: 'Enter a time zone.',
    next: 'Next five runs',
    nextPending: 'Calculating',
    nextUnknown: 'Enter a crontab and a time zone to see them.',
    save: 'Save',
    saved: (slug: string) => `${slug} is changed.`,
    notSaved: 'Could not save.',
  },
} as const

function inSentence(kind: RunKind): string {
  return kind === 'ok' ? 'OK' : KINDS[kind].toLowerCase()
}
