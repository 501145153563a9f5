import { formatCount } from '../../../ui/format.ts'

/** A day so far away is no date: too much changes before. */
export const FAR_DAYS = 5 * 365

/** Texts of the status of the installation. */
export const operatorTexts = {
  title: 'Installation',
  what: 'The status of the installation',
  verdicts: {
    ok: 'Everything arrives and is kept',
    attention: 'Everything works, and something needs you',
    problem: 'Something is lost, late or unsafe',
  },
  unheard: (clock: string) => `Last heard at ${clock}`,
  lead: (version: string, up: string) =>
    `Faultline ${version}, up for ${up}. Only owners of the organisation that set it up see this page.`,
  missing: 'This page does not exist',
  missingAction: 'Go to issues',
  missingText: 'Only owners of the organisation that set up this installation see its status.',
  parts: {
    canary: 'Test event',
    clock: 'Clock',
    database: 'Database',
    digestion: 'Digestion',
    deliveries: 'Deliveries',
    jobs: 'Jobs',
    quarantine: 'Quarantine',
    backup: 'Backups',
    'restore drill': 'Restore drill',
    alerts: 'Alerts',
    disk: 'Disk',
  } as Readonly<Record<string, string>>,
  more: (count: string) => `Show ${count} more`,

  events: {
    title: 'Events',
    range: 'per second, 24 h',
    now: 'Now',
    busiest: 'Busiest minute',
    dropped: 'Dropped items, 24 h',
    at: (clock: string) => `at ${clock}`,
    chart: (most: string) => `Events per second over 24 hours, at most ${most} in a quarter of an hour.`,
  },
  disk: {
    title: 'Disk',
    days: 'Days left',
    left: (days: number) => (days > FAR_DAYS ? 'over 5 years' : formatCount(days)),
    farHint: 'At the present growth.',
    daysHint: (day: string) => `90 % full on ${day}, unless retention deletes as much.`,
    noDays: 'Known after three whole days.',
    external: 'The database is on another machine: look at its disk there.',
    full: 'Used',
    ofTotal: (used: string, total: string) => `${used} of ${total}`,
    database: 'Database',
    growth: 'Added per day',
  },
  canary: {
    title: 'Test event and queues',
    off: 'The test event is turned off (CANARY_MINUTES).',
    chain: 'The way of the test event',
    sent: 'Sent',
    steps: { intake: 'Accepted', digestion: 'Digested', alert: 'Alert', delivery: 'Delivered' },
    took: (duration: string) => `in ${duration} in all`,
    states: { done: 'passed', failed: 'did not pass', unknown: 'not reached' },
  },
  queues: {
    queue: 'Queue',
    waiting: 'Waiting',
    oldest: 'Oldest',
    givenUp: 'Given up',
    names: { spool: 'Digestion', deliveries: 'Deliveries', jobs: 'Jobs' },
    none: 'none',
  },
  backups: {
    title: 'Backups',
    states: { restorable: 'Restorable', made: 'Never restored', failed: 'Failed', none: 'None' },
    last: 'Last backup',
    every: 'Schedule',
    everyHours: (hours: string) => `every ${hours} h`,
    notScheduled: 'by hand',
    drill: 'Last drill',
    restorable: 'Last restored',
    never: 'never',
  },
  quarantine: {
    title: 'Quarantine',
    empty: 'Empty: everything could be digested.',
  },
  jobs: {
    title: 'Jobs',
    lead: 'started last',
    never: 'not yet',
    none: 'No job has run yet.',
    all: (count: string) => `Show all ${count}`,
  },
} as const
