/** Words inside the kit's own parts. */
export const kit = {
  tryAgain: 'Try again',
  tryAgainIn: (left: string) => `Try again in ${left}`,
  possibleIn: (left: string) => `Possible in ${left}`,
  copy: 'Copy',
  copyRequestId: 'Copy request id',
  requestIdCopied: 'Request id copied',
  copyFailed: 'Could not copy. Select the text and copy it by hand.',
  close: 'Close',
  unassigned: 'Unassigned',
  severity: (word: string) => `${word} severity`,
  readValues: 'Read single values',
  nothingRead: 'Nothing chosen',
  chooseHint: 'Shift with the arrow keys marks a time, Enter looks at it alone.',
  marked: (time: string) => `Marked: ${time}.`,
} as const
