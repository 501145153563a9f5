const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 })

/** Texts of the settings for severity and escalation. */
export const issueRulesTexts = {
  title: 'Severity and escalation',
  labels: {
    users: 'Crash is critical from',
    share: 'High impact from',
    deviations: 'Allowed deviation',
    busy_factor: 'Factor over busy hours',
    least: 'Minimum limit',
    young_factor: 'Factor for new issues',
    young_least: 'Minimum limit for new issues',
  },
  hints: {
    users: 'Users affected in one day.',
    share: 'Share of that day’s active users. Crashes become critical, handled errors become high.',
    deviations: 'Standard deviations above the hourly mean.',
    busy_factor: 'Times the median of hours with events.',
    least: 'An hour with this many events or fewer never escalates an issue.',
    young_factor: 'Times the busiest hour, during the first 7 days.',
    young_least: 'Minimum limit during the first 7 days.',
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
  saved: 'Severity and escalation saved',
  failed: 'Could not save severity and escalation.',
} as const
