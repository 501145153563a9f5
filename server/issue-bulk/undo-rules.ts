import type { Snapshot } from './bulk.queries.ts'

/** What of a change can be taken back. Pure. */

/** Facts that are changed, and put back, together. */
export type Part = 'status' | 'assignee' | 'severity'

/** What tells whether somebody has been there since; the rest follows from it. */
const KEYS: Readonly<Record<Part, readonly (keyof Snapshot)[]>> = {
  status: ['status', 'status_changed_at'],
  assignee: ['assignee_id'],
  severity: ['severity', 'severity_pinned'],
}

const PARTS = ['status', 'assignee', 'severity'] as const

const differs = (part: Part, a: Snapshot, b: Snapshot): boolean => KEYS[part].some((key) => a[key] !== b[key])

export type Undoing = { readonly parts: readonly Part[]; readonly snapshot: Snapshot } | { readonly error: string }

/** What an issue becomes when a change from `before` to `after` is taken back, as it stands now. */
export function takeBack(before: Snapshot, after: Snapshot, now: Snapshot): Undoing {
  const parts = PARTS.filter((part) => differs(part, before, after))
  // A status brings its severity along; events raise the severity again by themselves, which is nobody's decision.
  const moved = parts.find(
    (part) => differs(part, after, now) && !(part === 'severity' && now.severity_pinned === false),
  )
  if (moved !== undefined) {
    const what = {
      status: `its status is ${String(now.status)} now`,
      assignee: 'it has another owner',
      severity: 'it has another severity',
    }
    return { error: `It was changed since: ${what[moved]}.` }
  }
  let snapshot: Snapshot = now
  if (parts.includes('status'))
    snapshot = { ...before, severity: now.severity, severity_pinned: now.severity_pinned, assignee_id: now.assignee_id }
  if (parts.includes('severity'))
    snapshot = { ...snapshot, severity: before.severity, severity_pinned: before.severity_pinned }
  if (parts.includes('assignee')) snapshot = { ...snapshot, assignee_id: before.assignee_id }
  return { parts, snapshot }
}
