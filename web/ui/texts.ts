/** Texts of the components in ui/. */
export const uiTexts = {
  tryAgain: 'Try again',
  tryAgainIn: (left: string) => `Try again in ${left}`,
  possibleIn: (left: string) => `Available in ${left}`,
  copy: 'Copy',
  copyRequestId: 'Copy request ID',
  requestIdCopied: 'Request ID copied',
  copyFailed: 'Could not copy. Select the text and copy it manually.',
  attention: 'needs attention',
  close: 'Close',
  unassigned: 'Unassigned',
  severity: (word: string) => `${word} severity`,
  readValues: 'Values over time',
  nothingRead: 'Nothing selected',
  chooseHint: 'Shift and arrow keys select a time range, Enter zooms in.',
  marked: (time: string) => `Selected: ${time}.`,
} as const
