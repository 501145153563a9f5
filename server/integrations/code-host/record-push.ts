import type { App } from '../../platform/context/app.ts'
import { resolveFix } from '../../issues/triage/update-issue.ts'
import type { CodeHostRow, DeliveryRow } from './code-hosts.queries.ts'
import { changeCodeHost } from './code-hosts.queries.ts'
import { deleteTag, leaveDefault, putTag, trimTags } from './commits.queries.ts'
import { findIssues } from './fixes.ts'
import type { HostClient, HostCommit, PushEvent } from './vendor.ts'
import { deliveryActor } from './integration-actor.ts'
import { wantReleases } from './link-releases-job.ts'
import { wantRepository } from './read-repository-job.ts'
import { announceSuspects } from './announce-suspects.ts'
import { type Mention, settleMentions } from './settle-mentions.ts'
import { storeKnownCommits } from './store-commits.ts'
import { findVendor } from './vendors.ts'

/** Commits of one push that are read; of a longer one the newest. */
const MAX_COMMITS = 2_048
const MAX_TAGS = 2_000

export type Settled = {
  readonly host: CodeHostRow
  readonly delivery: DeliveryRow
  readonly slug: string
  readonly client: HostClient | null
}

/** @returns a summary for the list of deliveries @throws HostError */
export async function recordPush(
  app: App,
  { host, delivery, slug, client }: Settled,
  push: PushEvent,
): Promise<string> {
  const projectId = host.project_id
  if (push.tag !== null) {
    const { tag, after } = push
    await app.tx(async (tx) => {
      if (after === null) return deleteTag(tx, projectId, tag)
      await putTag(tx, { project_id: projectId, tag: tag.slice(0, 200), sha: after, tagged_at: delivery.received_at })
      await trimTags(tx, projectId, MAX_TAGS)
      await wantReleases(tx, projectId)
    })
    return after === null ? `tag ${tag} was deleted` : `tag ${tag}`
  }
  const { branch } = push
  if (branch === null) return 'neither a branch nor a tag'
  if (push.after === null) return `branch ${branch} was deleted`
  const defaultBranch = push.defaultBranch ?? host.default_branch
  const isDefault = branch === defaultBranch
  const { commits, dropped, isComplete } = isDefault
    ? await wholePush(host, client, push)
    : { commits: push.commits, dropped: [], isComplete: true }
  const kept = commits.slice(-MAX_COMMITS)
  const mentions = await mentionsOf(app, { host, delivery, slug }, kept, isDefault)
  const touchesOwners = kept.some(
    ({ files }) => files === null || files.some(({ path }) => /(?:^|\/)CODEOWNERS$/.test(path)),
  )
  const settled = await app.tx(async (tx) => {
    if (!isDefault) return settleMentions(app, tx, projectId, mentions)
    if (dropped.length > 0) await leaveDefault(tx, projectId, dropped)
    const fresh = await storeKnownCommits(tx, projectId, kept, { isDefault, wants: client !== null })
    if (defaultBranch !== host.default_branch || touchesOwners || !isComplete)
      await changeCodeHost(tx, projectId, {
        default_branch: defaultBranch,
        ...(touchesOwners ? { owners_read_at: null } : {}),
        // The files of commits that are not known are not either.
        ...(isComplete && !push.isForced ? {} : { listed_at: null }),
      })
    await wantReleases(tx, projectId)
    await wantRepository(tx, projectId)
    if (fresh.size > 0 || dropped.length > 0) await announceSuspects(tx, host)
    return settleMentions(
      app,
      tx,
      projectId,
      mentions.filter(({ ref }) => fresh.has(ref)),
    )
  })
  const who = push.pusher === null ? '' : ` by ${push.pusher.slice(0, 60)}`
  const parts = [
    `${kept.length === 1 ? '1 commit' : `${kept.length.toLocaleString('en-GB')} commits`} to ${branch}${who}`,
    push.isForced ? 'forced' : '',
    isComplete ? '' : 'others are not known without a token',
    settled.resolved > 0 ? `${settled.resolved} resolved` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** The commits that a push added to the default branch, also where its payload lacks some, and those that it took away. */
async function wholePush(
  { provider }: CodeHostRow,
  client: HostClient | null,
  { before, after, commits, isCut, isForced }: PushEvent,
): Promise<{ commits: readonly HostCommit[]; dropped: readonly string[]; isComplete: boolean }> {
  const needsMore = (isCut || isForced) && before !== null && after !== null
  if (!needsMore) return { commits, dropped: [], isComplete: !isCut }
  if (client === null) return { commits, dropped: [], isComplete: false }
  const vendor = findVendor(provider)
  const added = await vendor.compare(client, before, after)
  const removed = isForced ? await vendor.compare(client, after, before) : []
  if (added === null) return { commits, dropped: [], isComplete: false }
  // The payload knows files.
  const sent = new Map(commits.map((commit) => [commit.sha, commit]))
  return {
    commits: added.map((commit) => sent.get(commit.sha) ?? commit),
    dropped: (removed ?? []).map(({ sha }) => sha),
    isComplete: true,
  }
}

async function mentionsOf(
  app: App,
  { host, delivery, slug }: Omit<Settled, 'client'>,
  commits: readonly HostCommit[],
  isDefault: boolean,
): Promise<Mention[]> {
  const vendor = findVendor(host.provider)
  const found: Mention[] = []
  for (const { sha, message, authorName, committedAt } of commits) {
    const { mentioned, fixed } = findIssues(message, slug)
    if (mentioned.length === 0) continue
    const actor = deliveryActor(host, delivery, authorName?.slice(0, 80) ?? null)
    const asked = { in_commit: sha }
    const fix = fixed.length > 0 && isDefault ? await resolveFix(app, actor, host.project_id, asked) : null
    for (const number of mentioned)
      found.push({
        kind: 'commit',
        ref: sha,
        number,
        title: cutTitle(message),
        url: vendor.commitUrl(host.repository_url, sha),
        author: authorName?.slice(0, 200) ?? null,
        at: committedAt,
        actor,
        says_fix: fixed.includes(number),
        ...(fix !== null && fixed.includes(number)
          ? { state: 'fixes', resolution: { asked, fix } }
          : { state: 'mentioned' }),
      })
  }
  return found
}

/** The first line of a message. */
export const cutTitle = (message: string): string =>
  (message.split('\n', 1)[0] ?? '').replaceAll('\0', '').slice(0, 200).toWellFormed()
