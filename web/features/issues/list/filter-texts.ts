import { counted, formatCount } from '../../../ui/format.ts'
/** Texts of the filter panel and its lists. */

export const filterTexts = {
  by: 'Filter by',
  release: 'Release',
  level: 'Level',
  tag: 'Tag',
  tagKey: 'Tag to filter by',
  noTags: 'No events with tags yet.',
  find: (what: string) => `Find ${what.toLowerCase()}`,
  noValues: 'No values yet.',
  noMatch: 'No value begins with this text.',
  failed: 'The values did not load. Type the term in the search field instead.',
  newest: (count: string) => `Counted in the newest ${count} issues.`,
  issues: (count: number) => counted(count, 'issue', 'issues'),
  chosen: (key: string, count: number) => `${key}, ${formatCount(count)} chosen`,
} as const
