import type { z } from 'zod'
import { actorForLog, memberBehind, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { wrongCursor } from '../../platform/kernel/cursor.ts'
import { isUuid, newId } from '../../platform/kernel/ids.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { requireProject, dropCachedProject } from '../../projects/registry/view-project.ts'
import { removeIssue } from './delete-issue.ts'
import * as sql from './discards.queries.ts'
import { shortId } from '#shared/issue-values.ts'
import { changeRelation } from '../rows/groups.queries.ts'
import type { Discard } from './merging.api.ts'
import { lockForMerging, projectOfIssue } from './merging.queries.ts'
import { viewPerson } from '../rows/view-issue.ts'

/**
 * Deletes an issue and drops further events of its fingerprints, including those of issues merged into it. Discards the
 * fingerprints first: after an interruption no further events are stored, and a repeated call deletes the rest.
 * @throws AppError not_found; conflict (merged into another issue)
 */
export async function discardIssue(app: App, actor: OrgActor, issueId: string): Promise<z.input<typeof Discard>> {
  const discardId = await app.tx(async (tx) => {
    const projectId = await projectOfIssue(tx, actor, issueId)
    if (projectId === undefined) throw notFound('Issue')
    await changeRelation(tx, projectId)
    const [issue] = await lockForMerging(tx, actor, [issueId])
    if (issue === undefined) throw notFound('Issue')
    if (issue.target_id !== issueId)
      throw conflict('This issue was merged into another one. Discard that one, or unmerge this one first.')
    const context = factContext(app, actor)
    const newDiscardId = newId()
    const id = await sql.insertDiscard(tx, {
      id: newDiscardId,
      issueId,
      projectId: issue.project_id,
      number: issue.number,
      title: issue.title,
      events: issue.event_count,
      actorId: memberBehind(actor)?.userId ?? null,
      now: context.at,
    })
    await dropCachedProject(tx, projectId)
    // A repeated call continues an interrupted one.
    if (id === newDiscardId)
      await recordFacts(tx, context, [{ kind: 'issue.discarded', orgId: actor.orgId, projectId, issueId, data: {} }])
    return id
  })
  await removeIssue(app, actor, issueId, {
    within: async (tx, projectId) => {
      // Issues merged into it meanwhile are discarded, too. If a member restored the issue meanwhile, no fingerprints
      // are added.
      await sql.addToDiscard(tx, discardId, issueId)
      await dropCachedProject(tx, projectId)
    },
  })
  app.log.info({ issue_id: issueId, ...actorForLog(actor) }, 'issue.discarded')
  const [discard] = await sql.selectDiscards(app.db, { id: discardId }, { limit: 1, offset: 0 })
  // Restored meanwhile.
  if (discard === undefined) throw notFound('Issue')
  return viewDiscard(discard)
}

/** Newest first. @throws AppError not_found */
export async function listDiscards(
  app: App,
  actor: OrgActor,
  input: { projectId: string; limit: number; offset: number; cursor?: string | undefined },
): Promise<Page<z.input<typeof Discard>>> {
  const { projectId, limit, offset, cursor } = input
  await requireProject(app, actor, projectId)
  if (cursor !== undefined && !isUuid(cursor)) throw wrongCursor()
  const rows = await sql.selectDiscards(
    app.db,
    { projectId, before: cursor },
    { limit: limit + 1, offset: cursor === undefined ? offset : 0 },
  )
  const shown = rows.slice(0, limit)
  return {
    items: shown.map(viewDiscard),
    total: await sql.countDiscards(app.db, projectId),
    limit,
    offset,
    next_cursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
  }
}

/**
 * Restores a discarded issue: its next event creates an issue. Deleted events stay deleted.
 * @throws AppError not_found
 */
export async function removeDiscard(
  app: App,
  actor: OrgActor,
  input: { projectId: string; discardId: string },
): Promise<void> {
  await requireProject(app, actor, input.projectId)
  await app.tx(async (tx) => {
    if (!(await sql.deleteDiscard(tx, input.projectId, input.discardId))) throw notFound('Discarded issue')
    await dropCachedProject(tx, input.projectId)
    await recordFacts(tx, factContext(app, actor), [
      {
        kind: 'project.discard_removed',
        orgId: actor.orgId,
        projectId: input.projectId,
        data: { discard_id: input.discardId },
      },
    ])
  })
  app.log.info(
    { project_id: input.projectId, discard_id: input.discardId, ...actorForLog(actor) },
    'issue.discard_removed',
  )
}

const viewDiscard = (row: sql.DiscardRow): z.input<typeof Discard> => ({
  id: row.id,
  project_id: row.project_id,
  short_id: shortId(row.project_slug, row.issue_number),
  title: row.title,
  event_count: row.event_count,
  fingerprints: row.fingerprints ?? 0,
  discarded_by: viewPerson(row.discarded_by, row.user_name, row.user_email),
  created_at: row.created_at.toISOString(),
})
