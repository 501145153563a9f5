import { formatCount, plural } from '../../../ui/format.ts'

/** Texts of changes of many issues, which are loaded with the first selection. */
export const bulkTexts = {
  selected: 'selected',
  bulk: (count: number) => `Actions for ${count} selected ${plural(count, 'issue', 'issues')}`,
  resolve: 'Resolve',
  reopen: 'Reopen',
  ignore: 'Ignore',
  deleteMany: (count: number) => `Delete ${count} ${plural(count, 'issue', 'issues')}`,
  clearSelection: 'Clear selection',
  refusedTitle: (count: number) => `${formatCount(count)} issues could not be changed`,
  refusedUnknown: 'Issue',
  refusedFirst: (count: number) => `Showing the first ${formatCount(count)}.`,
  mergeTitle: (into: string) => `Merge into ${into}?`,
  mergeText: 'Events, comments and followers of the others move to the issue that stays. You can unmerge them later.',
  mergeStays: 'The issue that stays',
  mergeRun: (count: number) => `Merge ${formatCount(count)} issues`,
  matching: (total: string) => `Select all ${total} matching issues`,
  onlyLoaded: 'Select only loaded issues',
  tooManyMatch: 'More than 10,000 issues match. Narrow the filters to change all of them.',
  running: { change: 'Changing', delete: 'Deleting', undo: 'Undoing' },
  progress: (done: string, total: string) => `${done} of ${total}`,
} as const
