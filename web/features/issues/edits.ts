import type { Edit } from '../../common/issue/changes.ts'
import type { Issue } from '../../api/issue-queries.ts'

/** Which menu of the bar is open. */
export type OpenMenu = 'assignee' | 'severity' | 'resolve' | 'ignore' | null

/** What a key or a button does to these issues: closed ones are opened again, others are closed. */
export const resolveEdit = (issues: readonly Issue[]): Edit & { kind: 'status' } => ({
  kind: 'status',
  status: issues.length > 0 && issues.every((issue) => issue.status === 'resolved') ? 'unresolved' : 'resolved',
})
export const ignoreEdit = (issues: readonly Issue[]): Edit & { kind: 'status' } => ({
  kind: 'status',
  status: issues.length > 0 && issues.every((issue) => issue.status === 'ignored') ? 'unresolved' : 'ignored',
})
