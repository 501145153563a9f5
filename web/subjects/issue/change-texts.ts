import { counted, formatCount } from '../../ui/format.ts'
/** Texts of changing issues: menus, toasts and the delete dialog. */

export const changeTexts = {
  severity: 'Severity',
  unassigned: 'Unassigned',
  findMember: 'Find a member',
  members: 'Members',
  noMember: (text: string) => `No member matches “${text}”.`,
  current: 'current assignee',
  automatic: 'Set automatically',
  delete: 'Delete',
  you: 'you',
  assignee: 'Assignee',
  countOf: (count: number) => counted(count, 'issue', 'issues'),
  movedTo: {
    resolved: (who: string) => `${who} resolved`,
    ignored: (who: string) => `${who} ignored`,
    unresolved: (who: string) => `${who} reopened`,
    regressed: (who: string) => `${who} marked as regressed`,
    escalated: (who: string) => `${who} marked as escalated`,
  },
  assigned: (who: string, name: string) => `${who} assigned to ${name}`,
  nowUnassigned: (who: string) => `${who} unassigned`,
  severitySet: (who: string, severity: string) => `${who} set to ${severity} severity`,
  severityAutomatic: (who: string) => `Severity of ${who} is set automatically again`,
  notChanged: (count: number) => `${formatCount(count)} issues could not be changed.`,
  notChangedOne: (who: string, reason: string) => `${who} could not be changed: ${reason}`,
  showRefused: 'Show reasons',
  notUndone: (count: number, reason: string) =>
    `Could not undo the change of ${counted(count, 'issue', 'issues')}: ${reason}`,
  failed: 'Could not save the change.',
  deleted: (who: string) => `${who} deleted`,
  deleteFailed: 'Could not delete the issues.',
  deleteTitle: (count: number, id: string) => (count === 1 ? `Delete ${id}?` : `Delete ${count} issues?`),
  deleteText: (events: number) =>
    `Its ${counted(events, 'event', 'events')} and all comments are deleted too. This cannot be undone. New events of the same kind create a new issue.`,
  deleteTextMany: (events: number) =>
    `Their ${formatCount(events)} events and all comments are deleted too. This cannot be undone. New events of the same kind create new issues.`,
  deleteTextAll:
    'All their events and comments are deleted too. This cannot be undone. New events of the same kind create new issues.',
  deleteConfirmation: (count: number) => `delete ${count}`,
} as const
