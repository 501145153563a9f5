/** Texts of the filter panel and its lists. */

const whole = new Intl.NumberFormat('en-GB')

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
  issues: (count: number) => `${whole.format(count)} ${count === 1 ? 'issue' : 'issues'}`,
  chosen: (key: string, count: number) => `${key}, ${whole.format(count)} chosen`,
} as const
