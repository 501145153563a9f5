import { actorLabel, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { severityName } from '#shared/issue-values.ts'
import type { Tx } from '../../platform/storage/database.ts'
import {
  selectRemainingMembers,
  restoreSnapshots,
  selectTraces,
  type Done,
  type Locked,
  type Snapshot,
  type Waiting,
} from './bulk.queries.ts'

export const HIDDEN = 'It was merged into another issue.'

type Now = ReadonlyMap<string, Locked>

/** Restores what an operation replaced in issues that the caller has locked. Later changes stay. */
export async function undoIssues(
  app: App,
  tx: Tx,
  actor: OrgActor,
  { id: operationId, undoes }: { readonly id: string; readonly undoes: string },
  waiting: readonly Waiting[],
  now: Now,
): Promise<Done[]> {
  const traces = await selectTraces(
    tx,
    undoes,
    waiting.map(({ issueId }) => issueId),
  )
  // A member who was deleted in the meantime cannot be assigned again.
  const assignees = [...traces.values(), ...[...now.values()].map(({ snapshot }) => ({ before: snapshot }))].map(
    ({ before }) => before.assignee_id,
  )
  const known = await selectRemainingMembers(
    tx,
    actor.orgId,
    assignees.filter((id) => typeof id === 'string'),
  )
  const name = actorLabel(actor)
  const restored: { id: string; snapshot: Snapshot }[] = []
  const facts: Fact[] = []
  const done = waiting.map(({ position, issueId }): Done => {
    const current = now.get(issueId)
    const trace = traces.get(issueId)
    if (current === undefined || trace === undefined) return { position, result: 'failed', error: 'Issue not found.' }
    if (current.isHidden) return { position, result: 'failed', error: HIDDEN }
    const undoing = undoChange(trace.before, trace.after, current.snapshot)
    if ('error' in undoing) return { position, result: 'failed', error: undoing.error }
    restored.push({
      id: issueId,
      snapshot: known.has(String(undoing.snapshot.assignee_id))
        ? undoing.snapshot
        : { ...undoing.snapshot, assignee_id: null },
    })
    const about = { orgId: actor.orgId, projectId: current.projectId, issueId }
    for (const part of undoing.parts) {
      // A status change includes its severity change, which needs no entry.
      if (part === 'severity' && undoing.parts.includes('status')) continue
      facts.push(restoredBy(name, part, about, trace, undoes))
    }
    return { position, result: 'changed' }
  })
  await restoreSnapshots(tx, restored)
  await recordFacts(tx, factContext(app, actor, app.clock.now(), operationId), facts)
  return done
}

type About = { readonly orgId: string; readonly projectId: string; readonly issueId: string }

function restoredBy(
  name: string,
  part: Part,
  about: About,
  { before, after }: { readonly before: Snapshot; readonly after: Snapshot },
  undoes: string,
): Fact {
  switch (part) {
    case 'status':
      return {
        kind: 'issue.status_restored',
        ...about,
        sentence: `${name} undid a change: this issue is ${String(before.status)} again.`,
        data: { from: String(after.status), to: String(before.status), undoes },
      }
    case 'assignee':
      return {
        kind: 'issue.assignee_restored',
        ...about,
        sentence: `${name} undid the change of assignee.`,
        data: { from: idOf(after.assignee_id), to: idOf(before.assignee_id), undoes },
      }
    case 'severity':
      return {
        kind: 'issue.severity_changed',
        ...about,
        sentence: `${name} undid the change of severity.`,
        data: { from: severityName(Number(after.severity)), to: severityName(Number(before.severity)), undoes },
      }
  }
}

const idOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Which parts of a change can be undone. Pure. */

/** Columns that are changed and restored together. */
type Part = 'status' | 'assignee' | 'severity'

/** The columns that show whether a part was changed since. */
const KEYS: Readonly<Record<Part, readonly (keyof Snapshot)[]>> = {
  status: ['status', 'status_changed_at'],
  assignee: ['assignee_id'],
  severity: ['severity', 'severity_pinned'],
}

const PARTS = ['status', 'assignee', 'severity'] as const

const differs = (part: Part, a: Snapshot, b: Snapshot): boolean => KEYS[part].some((key) => a[key] !== b[key])

type Undoing = { readonly parts: readonly Part[]; readonly snapshot: Snapshot } | { readonly error: string }

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
