/** Texts of the query field. */

const whole = new Intl.NumberFormat('en-GB')

export const queryTexts = {
  edit: (term: string) => `Edit ${term}`,
  remove: (term: string) => `Remove ${term}`,
  not: 'not',
  suggestions: 'Suggestions',
  groups: { recent: 'Recent searches', views: 'Saved views', keys: 'Filter by', values: 'Values' },
  newest: (issues: number) => `Counts are of the newest ${whole.format(issues)} issues.`,
  count: (count: string, exact: number, unit: string) => `${count} ${exact === 1 ? unit : `${unit}s`}`,
  use: (replacement: string) => `Use ${replacement}`,
} as const
