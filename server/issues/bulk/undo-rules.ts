import type { Snapshot } from './bulk.queries.ts'

/** Which parts of a change can be undone. Pure. */

/** Columns that are changed and restored together. */
export type Part = 'status' | 'assignee' | 'severity'

/** The columns that show whether a part was changed since. */
const KEYS: Readonly<Record<Part, readonly (keyof Snapshot)[]>> = {
  status: ['status', 'status_changed_at'],
  assignee: ['assignee_id'],
  severity: ['severity', 'severity_pinned'],
}

const PARTS = ['status', 'assignee', 'severity'] as const

const differs = (part: Part, a: Snapshot, b: Snapshot): boolean => KEYS[part].some((key) => a[key] !== b[key])

export type Undoing = { readonly parts: readonly Part[]; readonly snapshot: Snapshot } | { readonly error: string }

/** The values of an issue after the change from `before` to `after` is undone. */
export function undoChange(before: Snapshot, after: Snapshot, now: Snapshot): Undoing {
  const parts = PARTS.filter((part) => differs(part, before, after))
  // A status change includes its severity change. Events raise the severity automatically; undo ignores that.
  const changed = parts.find(
    (part) => differs(part, after, now) && !(part === 'severity' && now.severity_pinned === false),
  )
  if (changed !== undefined) {
    const what = {
      status: `its status is ${String(now.status)} now`,
      assignee: 'it has another assignee',
      severity: 'it has another severity',
    }
    return { error: `It was changed since: ${what[changed]}.` }
  }
  let snapshot: Snapshot = now
  if (parts.includes('status'))
    snapshot = { ...before, severity: now.severity, severity_pinned: now.severity_pinned, assignee_id: now.assignee_id }
  if (parts.includes('severity'))
    snapshot = { ...snapshot, severity: before.severity, severity_pinned: before.severity_pinned }
  if (parts.includes('assignee')) snapshot = { ...snapshot, assignee_id: before.assignee_id }
  return { parts, snapshot }
}
