const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 })

/** Words of when issues reach many and when they escalate. */
export const issueRules = {
  title: 'Severity and escalating',
  labels: {
    users: 'A crash is critical from',
    share: 'Issues reach many from',
    deviations: 'Usual spread',
    busy_factor: 'Busy hours',
    least: 'Least limit',
    young_factor: 'Young issues',
    young_least: 'Least limit of young issues',
  },
  hints: {
    users: 'Users of one day.',
    share: 'Share of the users active that day: crashes become critical, handled errors high.',
    deviations: 'Standard deviations over the mean of an hour.',
    busy_factor: 'Times the median of the hours that have events.',
    least: 'An hour with no more events never escalates an issue.',
    young_factor: 'Times the largest hour, for the first 7 days.',
    young_least: 'The same, for the first 7 days.',
  },
  units: {
    users: 'users',
    share: '%',
    deviations: '',
    busy_factor: '×',
    least: 'events',
    young_factor: '×',
    young_least: 'events',
  },
  bound: (least: number, most: number, isWhole: boolean) =>
    `Enter a ${isWhole ? 'whole ' : ''}number from ${whole.format(least)} to ${whole.format(most)}.`,
  saved: 'Severity and escalating saved',
  failed: 'Could not save severity and escalating.',
} as const
