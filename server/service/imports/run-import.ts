import { z } from 'zod'
import { orgOpener } from '../../identity/auth/org-sealer.ts'
import { readMember } from '../../identity/team/members.queries.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { type JobActor, systemActor, factContext } from '../../platform/context/actor.ts'
import { type App, quietly } from '../../platform/context/app.ts'
import { defineTask } from '../../platform/jobs/task.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { PERMISSIONS, roleAtLeast } from '#shared/permissions.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import { continueImport, RUN_IMPORT } from './change-import.ts'
import { Counts, type ImportKind, ProjectMapping } from './imports.api.ts'
import {
  addDifference,
  lockImport,
  readForJob,
  type StoredImport,
  sourceTokenPlace,
  updateImport,
} from './imports.queries.ts'
import { nextPosition, Position } from './position.ts'
import type { Progress, Running } from './step.ts'
import { SourceError } from './source.ts'
import { takeIssues } from './take-issues.ts'
import { takeMembers } from './take-members.ts'
import { takeProject } from './take-project.ts'
import { takeReleases } from './take-releases.ts'
import { takeRules } from './take-rules.ts'

/** A job works this long, then lets other imports have a turn. */
const TURN_MS = 5_000
/** Failures in a row after which a member must look. With the waits between them that is about two hours. */
const MAX_FAILURES = 20
const MAX_RETRY_MS = 10 * 60_000

/** The import was paused, stopped or continued by another process meanwhile. */
class ImportMovedError extends Error {}

/**
 * Continues an import, page by page. The position is written in the transaction of the things of a page, and each thing
 * remembers where it came from: an import that was cut off continues, and a page that is read again adds nothing.
 */
export const runImportTask = defineTask({
  name: RUN_IMPORT,
  payload: z.object({ import_id: z.string() }),
  async run(app, { import_id: importId }, signal) {
    const endMs = app.clock.monotonicMs() + TURN_MS
    do {
      const row = await readForJob(app.db, importId)
      if (row === undefined || row.state !== 'running') return
      try {
        if (await runStep(app, row, signal)) return
      } catch (error) {
        if (error instanceof ImportMovedError || signal.aborted) return
        await fail(app, row, error)
        return
      }
    } while (app.clock.monotonicMs() < endMs && !signal.aborted)
    await continueImport(app.db, importId)
  },
})

/** @returns whether the import is done */
async function runStep(app: App, row: StoredImport, signal: AbortSignal): Promise<boolean> {
  const actor = await starter(app, row)
  const token = (await orgOpener(app, row.org_id)).open(row.token_sealed ?? '', sourceTokenPlace(row.org_id, row.id))
  const position = Position.parse(row.position)
  const running: Running = {
    app: quietly(app),
    importId: row.id,
    source: { url: row.source_url, org: row.source_org, token: token.toString() },
    sourceName: `${row.source_url} ${row.source_org}`,
    actor,
    startedAt: row.started_at ?? row.created_at,
    mapping: z
      .array(ProjectMapping)
      .parse(row.mapping)
      .filter(({ taken }) => taken),
    position,
    signal,
  }
  const progress = await STEPS[position.phase](running)
  return save(app, running, progress)
}

const STEPS: Readonly<Record<Position['phase'], (running: Running) => Promise<Progress>>> = {
  projects: takeProject,
  members: takeMembers,
  releases: takeReleases,
  rules: takeRules,
  issues: takeIssues,
  done: () => Promise.resolve({ cursor: null }),
}

/** Writes the things of a step, its counts and the next position in one transaction. */
async function save(
  app: App,
  { importId, mapping, position, app: quiet }: Running,
  progress: Progress,
): Promise<boolean> {
  const next =
    progress.cursor === null ? nextPosition(position, mapping.length) : { ...position, cursor: progress.cursor }
  const isDone = next.phase === 'done'
  await quiet.tx(async (tx) => {
    const row = await lockImport(tx, importId)
    if (row?.state !== 'running' || JSON.stringify(Position.parse(row.position)) !== JSON.stringify(position))
      throw new ImportMovedError('the import moved meanwhile')
    const written = (await progress.write?.(tx)) ?? {}
    for (const difference of [...(progress.differences ?? []), ...(written.differences ?? [])])
      await addDifference(tx, importId, difference)
    const counts = add(add(Counts.parse(row.counts), progress), written)
    await updateImport(tx, importId, {
      position: JSON.stringify(next),
      counts: JSON.stringify(counts),
      problem: null,
      failures: 0,
      ...(isDone ? { state: 'done', ended_at: app.clock.now(), token_sealed: null } : {}),
    })
    if (isDone)
      await recordFacts(tx, factContext(quiet, systemActor(RUN_IMPORT)), [
        {
          kind: 'import.changed',
          orgId: row.org_id,
          targetId: importId,
          label: row.source_org,
          data: { from: 'running', to: 'done' },
        },
      ])
  })
  return isDone
}

function add(counts: Counts, { done = {}, total = {} }: Pick<Progress, 'done' | 'total'>): Counts {
  const sum = { ...counts }
  for (const kind of Object.keys(counts) as ImportKind[]) {
    const one = counts[kind]
    if (one === undefined) continue
    const more = total[kind]
    sum[kind] = {
      done: one.done + (done[kind] ?? 0),
      total: more === undefined ? one.total : (one.total ?? 0) + more,
    }
  }
  return sum
}

/** @throws SourceError when the member may not import any more */
async function starter(app: App, row: StoredImport): Promise<JobActor> {
  const member = row.created_by === null ? undefined : await readMember(app.db, row.org_id, row.created_by)
  if (member === undefined || !roleAtLeast(member.role, PERMISSIONS['imports.manage'].minRole))
    throw new SourceError(
      'refused',
      'The member who started this import left or has a lower role. Stop it and start another.',
    )
  return {
    kind: 'user',
    userId: member.id,
    name: member.name,
    orgId: row.org_id,
    role: member.role,
    sessionId: null,
    origin: { kind: 'system', operation: `${RUN_IMPORT} ${row.id}` },
    requestId: null,
  }
}

/** A refused token pauses the import; everything else is tried again, with growing waits. */
async function fail(app: App, row: StoredImport, error: unknown): Promise<void> {
  if (isDatabaseAway(error)) throw error
  const isKnown = error instanceof SourceError
  if (!isKnown) app.log.error({ import_id: row.id, err: error }, 'a step of an import failed')
  const problem = isKnown || error instanceof AppError ? error.message : 'Something failed here. It is tried again.'
  const failures = row.failures + 1
  const isOver = (isKnown && error.kind !== 'wait') || failures >= MAX_FAILURES
  const waitMs = isKnown && error.waitMs > 0 ? error.waitMs : Math.min(MAX_RETRY_MS, 1_000 * 2 ** failures)
  await app.tx(async (tx) => {
    const now = await lockImport(tx, row.id)
    if (now?.state !== 'running') return
    await updateImport(tx, row.id, { problem, failures, ...(isOver ? { state: 'paused' } : {}) })
    if (!isOver) await continueImport(tx, row.id, new Date(app.clock.now().getTime() + waitMs))
  })
}
