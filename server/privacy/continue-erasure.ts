import { orgSealer } from '../auth/org-sealer.ts'
import { deleteAttachmentsOf } from '../attachments/attachments.queries.ts'
import type { App } from '../context/app.ts'
import { isPackingUnderWay } from '../events/pack.queries.ts'
import { deleteEventsOfUser, readEvent } from '../events/store.queries.ts'
import { deleteFeedbackOf } from '../feedback/feedback.queries.ts'
import {
  eraseUsersFromIssue,
  issuesOfUser,
  lockIssueForErasure,
  type IssueTexts,
} from '../issues/erase-user.queries.ts'
import { factsOf } from '../issue-search/facts.ts'
import { indexedTextsOf } from '../issue-search/indexed-texts.ts'
import { publishLive } from '../live/publish.ts'
import { readStoredEvent } from '../protocol/read-stored.ts'
import { scrubEvent, type ScrubRules } from '../protocol/scrub.ts'
import { hashUser } from '../protocol/user-hash.ts'
import { eraseFromQuarantine, isDigestedUpTo } from '../spool/erase-from-spool.ts'
import { scrubSettings } from './scrub-settings.ts'
import { scrubbingOf } from './scrubbing-of.ts'
import { readProject } from '../projects/projects.queries.ts'
import type { Tx } from '../storage/database.ts'
import { ERASERS, type Person } from './erasers.ts'
import { countErased, finishErasure, readErasure, type ErasureRow } from './erasures.queries.ts'
import { keyPlace } from './key-place.ts'
import { mentionsUser } from './mentions-user.ts'

/** Events of one transaction: each is a row, its index entries and perhaps files. */
const PIECE = 500
const ISSUES_AT_ONCE = 50

/**
 * Does what is left of an erasure, in pieces that each are a transaction. It is done when everything received before
 * the request has been digested and was looked through after that; until then it stays `running`, and the next call
 * goes on. Two at once do each other no harm.
 */
export async function continueErasure(app: App, erasureId: string, signal: AbortSignal): Promise<void> {
  const erasure = await readErasure(app.db, erasureId)
  if (erasure === undefined || erasure.state === 'done') return
  const person = await personOf(app, erasure)
  if (person === null) return
  // Asked first: what is digested after this was not in the spool any more, or is looked through the next time. And a
  // day that is being packed has a copy, from which deletions go only when it is finished.
  const isLastPass = (await isDigestedUpTo(app, erasure.requested_at)) && !(await isPackingUnderWay(app.db))
  for (;;) {
    const issueIds = await issuesOfUser(app.db, person.projectId, person.userHashes, ISSUES_AT_ONCE)
    for (const issueId of issueIds) {
      while (!(await eraseInIssue(app, erasure.id, person, issueId))) if (signal.aborted) return
      if (signal.aborted) return
    }
    if (issueIds.length < ISSUES_AT_ONCE) break
  }
  for (const erase of ERASERS) {
    if (signal.aborted) return
    await countErased(app.db, erasure.id, await erase(app, person, signal))
  }
  if (signal.aborted) return
  const requests = await eraseFromQuarantine(app, person.projectId, (entry) => mentionsUser(entry, person.userKey))
  await countErased(app.db, erasure.id, { quarantined_requests: requests })
  if (!isLastPass) return
  await finishErasure(app.db, erasure.id, app.clock.now())
  const erased = (await readErasure(app.db, erasure.id))?.erased
  app.log.info({ project_id: person.projectId, org_id: person.orgId, erasure_id: erasure.id, erased }, 'user.erased')
}

async function personOf(app: App, erasure: ErasureRow): Promise<Person | null> {
  const project = await readProject(app.db, erasure.org_id, erasure.project_id)
  if (project === null || erasure.user_key_sealed === null) return null
  const sealer = await orgSealer(app, erasure.org_id)
  const userKey = sealer
    .open(erasure.user_key_sealed, keyPlace(erasure.project_id, erasure.user_hash, erasure.org_id))
    .toString()
  const scrubbing = await scrubbingOf(app, project, scrubSettings(project.settings))
  const userKeys = [...new Set([userKey, ...scrubbedKeys(userKey, scrubbing)])]
  return {
    projectId: erasure.project_id,
    orgId: erasure.org_id,
    userKey,
    userKeys,
    userHashes: userKeys.map((key) => hashUser(erasure.project_id, key)),
  }
}

/** What rules of the project make of somebody's id: events that came since the rule know them by that only. */
function scrubbedKeys(userKey: string, scrubbing: ScrubRules): string[] {
  return ['id', 'username', 'email', 'ip_address'].flatMap((field) => {
    const name = `user.${field}`
    const stand: { user?: Record<string, unknown>; attributes?: Record<string, unknown> } = {
      user: { [field]: userKey },
      attributes: { [name]: userKey },
    }
    scrubEvent(stand, scrubbing)
    // A word in a value's place stands for everybody whose value it replaced.
    return [stand.user?.[field], stand.attributes?.[name]].filter(
      (left) => typeof left === 'string' && /^hash:[0-9a-f]{24}$/.test(left),
    ) as string[]
  })
}

/** Erases a piece of what somebody left in an issue; true when that was the last one. */
async function eraseInIssue(app: App, erasureId: string, person: Person, issueId: string): Promise<boolean> {
  return app.tx(async (tx) => {
    const issue = await lockIssueForErasure(tx, issueId)
    if (issue === null) return true
    const events = await deleteEventsOfUser(tx, issueId, person.userHashes, PIECE)
    const eventIds = events.map(({ eventId }) => eventId)
    const feedbackIds: string[] = []
    for (const userHash of eventIds.length === 0 ? [] : person.userHashes)
      feedbackIds.push(...(await deleteFeedbackOf(tx, person.projectId, { userHash, eventIds })))
    // Files are filed under the id of what they came with: an event, or something somebody wrote.
    const files = await deleteAttachmentsOf(tx, person.projectId, [...eventIds, ...feedbackIds])
    await countErased(tx, erasureId, { events: events.length, attachments: files, feedback: feedbackIds.length })
    if (events.length === PIECE) return false
    const texts = await textsLeft(tx, issueId, issue.errorType)
    await eraseUsersFromIssue(tx, issueId, person.userHashes, texts, app.clock.now())
    await countErased(tx, erasureId, { issues: 1 })
    await publishLive(tx, person.orgId, {
      kind: 'issues',
      project_id: person.projectId,
      issue_ids: [issueId],
      new_issue_ids: [],
      event_count: 0,
    })
    return true
  })
}

/** What the newest event left says of the issue; where none is left, no more than its type. */
async function textsLeft(tx: Tx, issueId: string, errorType: string | null): Promise<IssueTexts> {
  const newest = await readEvent(tx, issueId, 'latest')
  if (newest === null) {
    const title = errorType ?? 'Erased'
    return {
      title,
      culprit: '',
      errorType,
      errorValue: null,
      texts: [title],
      facts: [],
      eventId: null,
    }
  }
  const event = readStoredEvent(newest)
  return {
    title: event.title,
    culprit: event.culprit,
    errorType: event.error_type,
    errorValue: event.error_value,
    texts: indexedTextsOf(event),
    facts: factsOf(event),
    eventId: newest.eventId,
  }
}
