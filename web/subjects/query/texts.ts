import { formatCount } from '../../ui/format.ts'
/** Texts of the query field. */

export const queryTexts = {
  edit: (term: string) => `Edit ${term}`,
  remove: (term: string) => `Remove ${term}`,
  not: 'not',
  suggestions: 'Suggestions',
  groups: { recent: 'Recent searches', views: 'Saved views', keys: 'Filter by', values: 'Values' },
  newest: (issues: number) => `Counts are of the newest ${formatCount(issues)} issues.`,
  count: (count: string, exact: number, unit: string) => `${count} ${exact === 1 ? unit : `${unit}s`}`,
  use: (replacement: string) => `Use ${replacement}`,
} as const
