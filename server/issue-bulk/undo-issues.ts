import { actorLabel, type OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { newId } from '../kernel/ids.ts'
import { severityName } from '../issue-rules/issue.ts'
import { writeEntries } from '../issue-rows/life.queries.ts'
import type { Tx } from '../storage/database.ts'
import {
  membersAmong,
  restoreSnapshots,
  selectTraces,
  type Done,
  type Locked,
  type Snapshot,
  type Waiting,
} from './bulk.queries.ts'
import { undoChange, type Part } from './undo-rules.ts'

export const HIDDEN = 'It was merged into another issue.'

type Now = ReadonlyMap<string, Locked>

/** Restores what an operation replaced in issues that the caller has locked. Later changes stay. */
export async function undoIssues(
  app: App,
  tx: Tx,
  actor: OrgActor,
  undoes: string,
  waiting: readonly Waiting[],
  now: Now,
): Promise<{ done: Done[]; touched: Map<string, string> }> {
  const traces = await selectTraces(
    tx,
    undoes,
    waiting.map(({ issueId }) => issueId),
  )
  // A member who was deleted in the meantime cannot be assigned again.
  const assignees = [...traces.values(), ...[...now.values()].map(({ snapshot }) => ({ before: snapshot }))].map(
    ({ before }) => before.assignee_id,
  )
  const known = await membersAmong(
    tx,
    actor.orgId,
    assignees.filter((id) => typeof id === 'string'),
  )
  const name = actorLabel(actor)
  const restored: { id: string; snapshot: Snapshot }[] = []
  const entries: { id: string; issueId: string; kind: string; sentence: string; data: Record<string, unknown> }[] = []
  const touched = new Map<string, string>()
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
    touched.set(issueId, current.projectId)
    for (const part of undoing.parts) {
      // A status change includes its severity change, which needs no entry.
      if (part === 'severity' && undoing.parts.includes('status')) continue
      entries.push({ id: newId(), issueId, ...entryOf(part, name, trace, undoes) })
    }
    return { position, result: 'changed' }
  })
  await restoreSnapshots(tx, restored)
  await writeEntries(tx, app.clock.now(), actor, entries)
  return { done, touched }
}

const KINDS: Readonly<Record<Part, string>> = {
  status: 'status_changed',
  assignee: 'assigned',
  severity: 'severity_changed',
}

function entryOf(part: Part, name: string, { before, after }: { before: Snapshot; after: Snapshot }, undoes: string) {
  const sentences: Readonly<Record<Part, string>> = {
    status: `${name} undid a change: this issue is ${String(before.status)} again.`,
    assignee: `${name} undid the change of assignee.`,
    severity: `${name} undid the change of severity.`,
  }
  return {
    kind: KINDS[part],
    sentence: sentences[part],
    data: { from: valueOf(part, after), to: valueOf(part, before), undoes },
  }
}

function valueOf(part: Part, snapshot: Snapshot): unknown {
  if (part === 'severity') return severityName(Number(snapshot.severity))
  return part === 'status' ? snapshot.status : snapshot.assignee_id
}
