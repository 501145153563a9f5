import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { aboutIssue } from '../../issues/rows/view-issue.ts'
import { actorLabel, memberBehind, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { type AppError, conflict, notFound, unavailable } from '../../platform/kernel/errors.ts'
import { TrackerError } from './tracker-error.ts'
import {
  claimTicket,
  dropClaim,
  endLease,
  type IntegrationRow,
  type Lease,
  selectIntegration,
  selectTicket,
  type TicketRow,
  writeLinked,
} from './trackers.queries.ts'
import type { RemoteTicket } from './tracker.ts'
import { type DescribedIssue, describeIssue } from './describe-issue.ts'
import { withTracker } from './with-tracker.ts'

/**
 * Longer than the calls of an attempt together. Jira finds a new ticket only after some seconds, so that a caller
 * that takes over waits for the end of the lease, too.
 */
const LEASE_MS = 45_000
/** How long a call waits for another one that creates the ticket; a route may take 12 s. */
const WAIT_MS = 10_000
const LOOK_MS = 200

/**
 * Creates the ticket of an issue, once however many calls there are. The row and its marker are committed before the
 * tracker is called: a caller that takes over from one that ended looks for the marker first.
 * @throws AppError not_found (issue), conflict (no tracker, refused), unavailable
 */
export async function createTicket(
  app: App,
  actor: OrgActor,
  issueId: string,
): Promise<{ readonly ticket: TicketRow; readonly isNew: boolean }> {
  const issue = await describeIssue(app, actor, issueId)
  if (issue === null) throw notFound('Issue')
  const endMs = app.clock.monotonicMs() + WAIT_MS
  for (;;) {
    const existing = await selectTicket(app.db, issue.id)
    if (existing?.state === 'linked') return { ticket: existing, isNew: false }
    const integration = await selectIntegration(app.db, actor.orgId, issue.projectId)
    if (integration === undefined)
      throw conflict(
        'The project is not connected to a tracker. An admin connects it in the integrations of the project.',
      )
    const lease = await app.tx((tx) =>
      claimTicket(tx, {
        issueId: issue.id,
        integration,
        marker: randomUUID(),
        token: randomUUID(),
        leaseMs: LEASE_MS,
        userId: memberBehind(actor)?.userId ?? null,
        at: app.clock.now(),
      }),
    )
    if (lease !== null) {
      const ticket = await create(app, actor, issue, integration, lease)
      if (ticket !== null) return { ticket, isNew: true }
    }
    if (app.clock.monotonicMs() > endMs)
      throw unavailable('Another call is creating the ticket, and the tracker is slow to answer. Look again soon.', 30)
    await wait(LOOK_MS)
  }
}

/** Null when another call took over. */
async function create(
  app: App,
  actor: OrgActor,
  issue: DescribedIssue,
  integration: IntegrationRow,
  lease: Lease,
): Promise<TicketRow | null> {
  let isExact = false
  let remote: RemoteTicket
  try {
    remote = await withTracker(app, integration, async (tracker) => {
      ;({ isExact } = tracker)
      const found = lease.isTakenOver ? await tracker.find(lease.marker, integration.team_id) : null
      return (
        found ??
        tracker.create({
          marker: lease.marker,
          teamId: integration.team_id,
          typeId: integration.type_id,
          title: issue.title,
          text: issue.text,
        })
      )
    })
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error
    // A taken-over marker may have a ticket that was not found for lack of an answer.
    if (error.kind !== 'uncertain' && !lease.isTakenOver) await dropClaim(app.db, issue.id, lease.token)
    else if (isExact || error.kind !== 'uncertain') await endLease(app.db, issue.id, lease.token)
    throw asAppError(error)
  }
  return app.tx(async (tx) => {
    const now = app.clock.now()
    const isWritten = await writeLinked(tx, issue.id, lease.token, {
      external_id: remote.externalId,
      key: remote.key,
      url: remote.url,
      remote_state: remote.isClosed ? 'closed' : 'open',
      remote_status: remote.status,
      checked_at: now,
    })
    if (!isWritten) return null
    await recordFacts(tx, factContext(app, actor, now), [
      {
        kind: 'ticket.created',
        ...aboutIssue({ id: issue.id, project_id: issue.projectId, org_id: actor.orgId }),
        sentence: `${actorLabel(actor)} created the ticket ${remote.key}.`,
        data: { integration_id: integration.id, key: remote.key, url: remote.url },
      },
    ])
    return (await selectTicket(tx, issue.id)) ?? null
  })
}

/** The error of a tracker, with what a member can do about it. */
export function asAppError(error: TrackerError): AppError {
  switch (error.kind) {
    case 'unauthorised':
      return conflict(`The tracker refuses the credentials. An admin must connect it again. ${error.message}`)
    case 'forbidden':
    case 'missing':
    case 'refused':
      return conflict(`The tracker refused the ticket. ${error.message}`)
    case 'limited':
      return unavailable(
        `The tracker limits how often it may be called. Try again later. ${error.message}`,
        Math.ceil((error.retryAfterMs ?? 60_000) / 1_000),
      )
    case 'uncertain':
      return unavailable(
        `The tracker gave no answer. Try again in a minute: a ticket that it created is found then. ${error.message}`,
        60,
      )
    case 'unreachable':
      return unavailable(`The tracker cannot be reached. Try again later. ${error.message}`, 30)
  }
}
