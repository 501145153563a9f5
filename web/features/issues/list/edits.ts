import type { Edit } from '../../../subjects/issue/changes.ts'
import type { Issue } from '../../../api/issue-queries.ts'

/** The open menu of the bar. */
export type OpenMenu = 'assignee' | 'severity' | 'resolve' | 'ignore' | null

/** Reopens the issues if all are closed in this way, else closes them. */
export const resolveEdit = (issues: readonly Issue[]): Edit & { kind: 'status' } => ({
  kind: 'status',
  status: issues.length > 0 && issues.every((issue) => issue.status === 'resolved') ? 'unresolved' : 'resolved',
})
export const ignoreEdit = (issues: readonly Issue[]): Edit & { kind: 'status' } => ({
  kind: 'status',
  status: issues.length > 0 && issues.every((issue) => issue.status === 'ignored') ? 'unresolved' : 'ignored',
})
