const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 })

/** Texts of the settings for severity and escalation. */
export const issueRulesTexts = {
  title: 'Severity and escalation',
  labels: {
    users: 'Crash is critical from',
    share: 'High impact from',
    deviations: 'Allowed deviation',
    busy_factor: 'Busy-hour multiplier',
    min_limit: 'Minimum limit',
    new_issue_factor: 'New-issue multiplier',
    new_issue_min_limit: 'Minimum limit for new issues',
  },
  hints: {
    users: 'Users affected in one day.',
    share: 'Share of that day’s active users. Crashes become critical, handled errors become high.',
    deviations: 'Standard deviations above the hourly mean.',
    busy_factor: 'Times the median of the hours that have events.',
    min_limit: 'An hour with this many events or fewer never escalates an issue.',
    new_issue_factor: 'Times the busiest hour so far. Applies for the first 7 days.',
    new_issue_min_limit: 'The same, for the first 7 days of an issue.',
  },
  units: {
    users: 'users',
    share: '%',
    deviations: '',
    busy_factor: '×',
    min_limit: 'events',
    new_issue_factor: '×',
    new_issue_min_limit: 'events',
  },
  bound: (min: number, max: number, isWhole: boolean) =>
    `Enter a ${isWhole ? 'whole ' : ''}number from ${whole.format(min)} to ${whole.format(max)}.`,
  saved: 'Severity and escalation saved',
  failed: 'Could not save severity and escalation.',
} as const
