import { formatCount } from '../../ui/format.ts'

/** Texts of merging and discarding. */

const plural = (count: number, one: string, many: string): string => `${formatCount(count)} ${count === 1 ? one : many}`
const events = (count: number): string => plural(count, 'event', 'events')
const issues = (count: number): string => plural(count, 'issue', 'issues')

export const mergeTexts = {
  cancel: 'Cancel',
  merge: 'Merge…',
  mergeTitle: (id: string) => `Merge issues into ${id}`,
  mergeText: 'They are shown as one from now on. Nothing is lost: they can be taken out again.',
  mergeSearch: 'Issues of this project',
  mergeSearchHint: 'Words of title, function or file',
  mergeNone: 'No other issue is found.',
  mergeRun: (count: number) => (count === 0 ? 'Merge' : `Merge ${issues(count)}`),
  mergePick: 'Pick the issues that are the same problem.',
  merged: (count: number, id: string) => `${issues(count)} merged into ${id}`,
  mergeFailed: 'Could not merge.',
  unmerge: (id: string) => `Take ${id} out`,
  unmergeShort: 'Take out',
  unmerged: (id: string) => `${id} is on its own again`,
  unmergeFailed: 'Could not take it out.',
  mergedHere: 'Merged into this issue',
  fingerprints: (count: number) => `All ${formatCount(count)} fingerprints`,
  madeBy: (id: string) => `made ${id}`,
  ofVersion: (version: number) => `v${version}`,
  discard: 'Discard…',
  discardTitle: (id: string) => `Discard ${id}?`,
  discardText: (count: number) =>
    `Deletes it with ${events(count)}, and drops every event like it from now on. An admin can take it up again in the settings of the project; what is deleted stays deleted.`,
  discardLabel: 'Type discard to confirm',
  discardWord: 'discard',
  discardRun: 'Discard for good',
  discarded: (id: string) => `${id} discarded`,
  discardFailed: 'Could not discard.',
} as const
