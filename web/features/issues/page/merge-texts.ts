import type { SimilarPart } from '#shared/issue-values.ts'
import { counted, formatCount } from '../../../ui/format.ts'

/** Texts of merging and discarding. */

const events = (count: number): string => counted(count, 'event', 'events')
const issues = (count: number): string => counted(count, 'issue', 'issues')

/** Words for what two issues share, in the order of the API. */
const SHARED: Readonly<Record<string, string>> = {
  type: 'Same error type',
  culprit: 'Same location',
  message: 'Similar message',
  'type culprit': 'Same error type and location',
  'type message': 'Same error type, similar message',
  'culprit message': 'Same location, similar message',
  'type culprit message': 'Same error type and location, similar message',
}

export const mergeTexts = {
  merge: 'Merge…',
  mergeTitle: (id: string) => `Merge issues into ${id}`,
  mergeText: 'Merged issues are shown as one issue. You can unmerge them later.',
  mergeSearch: 'Issues in this project',
  mergeSearchHint: 'Title, function or file',
  mergeNone: 'No other issues found.',
  mergeRun: (count: number) => (count === 0 ? 'Merge' : `Merge ${issues(count)}`),
  mergePick: 'Select at least one issue.',
  merged: (count: number, id: string) => `${issues(count)} merged into ${id}`,
  mergeFailed: 'Could not merge the issues.',
  unmerge: (id: string) => `Unmerge ${id}`,
  unmergeShort: 'Unmerge',
  unmerged: (id: string) => `${id} unmerged`,
  unmergeFailed: 'Could not unmerge the issue.',
  mergedHere: 'Merged into this issue',
  fingerprints: (count: number) => `All ${formatCount(count)} fingerprints`,
  createdIssue: (id: string) => `created ${id}`,
  ofVersion: (version: number) => `v${version}`,
  similar: 'Similar issues',
  similarName: 'similar issues',
  events,
  shared: (parts: readonly SimilarPart[]) => SHARED[parts.join(' ')] ?? '',
  discard: 'Discard…',
  discardTitle: (id: string) => `Discard ${id}?`,
  discardText: (count: number) =>
    `The issue and its ${events(count)} are deleted, and new events of the same kind are dropped. An admin can restore the issue in the project settings, but not its deleted data.`,
  discardConfirmation: 'discard',
  discardRun: 'Discard issue',
  discarded: (id: string) => `${id} discarded`,
  discardFailed: 'Could not discard the issue.',
} as const
