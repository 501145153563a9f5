import type { App } from '../../platform/context/app.ts'
import { resolveFix } from '../../issues/triage/update-issue.ts'
import { findIssues } from './fixes.ts'
import { deliveryActor } from './integration-actor.ts'
import { type Settled, cutTitle } from './record-push.ts'
import { settleMentions } from './settle-mentions.ts'
import type { PullEvent } from './vendor.ts'
import { findVendor } from './vendors.ts'

/** A pull request that is not merged into the default branch only links. @returns a summary for the list of deliveries */
export async function recordPull(app: App, { host, delivery, slug }: Settled, pull: PullEvent): Promise<string> {
  const vendor = findVendor(host.provider)
  const isFix = pull.state === 'merged' && pull.base === (pull.defaultBranch ?? host.default_branch)
  const { mentioned, fixed } = findIssues(`${pull.title}\n${pull.text}`, slug)
  const actor = deliveryActor(host, delivery, pull.author?.slice(0, 80) ?? null)
  const sha = pull.mergeSha !== null && /^[0-9a-f]{7,64}$/.test(pull.mergeSha) ? pull.mergeSha : null
  const asked = sha === null ? { in_next_release: true as const } : { in_commit: sha }
  const fix = isFix && fixed.length > 0 ? await resolveFix(app, actor, host.project_id, asked) : null
  const { resolved } = await app.tx((tx) =>
    settleMentions(
      app,
      tx,
      host.project_id,
      mentioned.map((number) => ({
        kind: 'pull',
        ref: String(pull.number),
        number,
        title: cutTitle(pull.title),
        url: vendor.pullUrl(host.repository_url, pull.number),
        author: pull.author?.slice(0, 200) ?? null,
        at: pull.mergedAt ?? delivery.received_at,
        actor,
        says_fix: fixed.includes(number),
        ...(fix !== null && fixed.includes(number)
          ? { state: 'fixes' as const, resolution: { asked, fix } }
          : { state: pull.state }),
      })),
    ),
  )
  return `${pull.state} ${vendor.pullSign}${pull.number}${resolved > 0 ? `, ${resolved} resolved` : ''}`
}
