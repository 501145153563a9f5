import type { FactContext } from '../../platform/context/fact-context.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { ItemContext } from '../../events/items/recorder.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { selectMergeTargets } from './merge-targets.queries.ts'

/** Records that issues received items other than events. For a merged issue, its merge target received them. */
export async function recordItemsOfIssues(
  tx: Tx,
  context: FactContext,
  kind: 'issue.feedback_received' | 'issue.attachment_received',
  items: readonly { readonly context: ItemContext; readonly issueId: string }[],
): Promise<void> {
  if (items.length === 0) return
  const targets = await selectMergeTargets(tx, [...new Set(items.map(({ issueId }) => issueId))])
  await recordFacts(
    tx,
    context,
    items.map(({ context: { orgId, projectId }, issueId }) => ({
      kind,
      orgId,
      projectId,
      issueId: targets.get(issueId) ?? issueId,
      data: {},
    })),
  )
}
