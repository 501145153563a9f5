/** Texts of changing issues, wherever that is done. */

const plural = (count: number, one: string, many: string): string => (count === 1 ? one : many)
const whole = new Intl.NumberFormat('en-GB')

export const changeTexts = {
  severity: 'Severity',
  nobody: 'Nobody',
  findMember: 'Find a member',
  members: 'Members',
  noMember: (text: string) => `No member is called “${text}”.`,
  current: 'owner now',
  byRules: 'By the rules',
  delete: 'Delete',
  you: 'you',
  assignTo: 'Owner',
  countOf: (count: number) => `${whole.format(count)} ${plural(count, 'issue', 'issues')}`,
  movedTo: {
    resolved: (who: string) => `${who} resolved`,
    ignored: (who: string) => `${who} ignored`,
    unresolved: (who: string) => `${who} reopened`,
    regressed: (who: string) => `${who} moved to Regressed`,
    escalated: (who: string) => `${who} moved to Escalated`,
  },
  assigned: (who: string, name: string) => `${who} assigned to ${name}`,
  unassigned: (who: string) => `${who} without owner now`,
  severitySet: (who: string, severity: string) => `${who} set to ${severity}`,
  severityByRules: (who: string) => `${who}: the rules decide the severity again`,
  notChanged: (count: number) => `${whole.format(count)} could not be changed.`,
  notChangedOne: (who: string, reason: string) => `${who} could not be changed: ${reason}`,
  showRefused: 'Show why',
  notUndone: (count: number, reason: string) => `${whole.format(count)} not taken back: ${reason}`,
  failed: 'Could not change it.',
  deleted: (who: string) => `${who} deleted`,
  deleteFailed: 'Could not delete.',
  deleteTitle: (count: number, id: string) => (count === 1 ? `Delete ${id}?` : `Delete ${count} issues?`),
  deleteText: (events: number) =>
    `${whole.format(events)} ${plural(events, 'event', 'events')} and all comments go with it. New events of the same kind will open a new issue.`,
  deleteTextMany: (events: number) =>
    `${whole.format(events)} events and all comments go with them. New events of the same kind will open new issues.`,
  deleteTextAll: 'All their events and comments go with them. New events of the same kind will open new issues.',
  deleteWord: (count: number) => `delete ${count}`,
  deleteLabel: (word: string) => `Type “${word}” to confirm`,
  cancel: 'Cancel',
} as const
