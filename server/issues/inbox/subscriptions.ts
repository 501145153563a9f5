import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { holdIssue, selectIssue } from '../rows/issues.queries.ts'
import { selectSubscription, subscribeManually, unsubscribeManually } from './inbox.queries.ts'
import type { Subscription } from './inbox.api.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/** Subscriptions of a member to an issue. For a merged issue they concern its merge target. */

/** @throws AppError not_found */
export async function readSubscription(app: App, actor: OrgActor, issueId: string): Promise<Subscription> {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  return view(app.db, actor, issue.id)
}

/**
 * Subscribes the member by hand. A member who is already subscribed keeps the reason.
 * @throws AppError not_found
 */
export async function subscribe(app: App, actor: OrgActor, issueId: string): Promise<Subscription> {
  return app.tx(async (tx) => {
    const id = await heldId(tx, actor, issueId)
    const now = app.clock.now()
    await subscribeManually(tx, id, requireActingMember(actor).userId, now)
    return view(tx, actor, id)
  })
}

/**
 * Unsubscribes the member, who is not subscribed automatically again.
 * @throws AppError not_found
 */
export async function unsubscribe(app: App, actor: OrgActor, issueId: string): Promise<void> {
  await app.tx(async (tx) => {
    const id = await heldId(tx, actor, issueId)
    await unsubscribeManually(tx, id, requireActingMember(actor).userId, app.clock.now())
  })
}

/** @throws AppError not_found */
async function heldId(tx: Tx, actor: OrgActor, issueId: string): Promise<string> {
  const issue = await holdIssue(tx, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  return issue.id
}

async function view(db: Connection, actor: OrgActor, issueId: string): Promise<Subscription> {
  const row = await selectSubscription(db, issueId, requireActingMember(actor).userId)
  return {
    issue_id: issueId,
    subscribed: row?.is_subscribed ?? false,
    reason: row?.is_subscribed === true ? row.reason : null,
    changed_at: row?.changed_at.toISOString() ?? null,
  }
}
