import { z } from 'zod'
import { GroupingPart } from '../grouping/grouping.api.ts'
import { LATEST_GROUPING_VERSION } from '../grouping/grouping-rules.api.ts'
import { shortId } from '#shared/issue-values.ts'
import type { GroupingView } from './merging.api.ts'
import { selectFingerprints } from '../rows/issues.queries.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { selectMergedIssues } from './merging.queries.ts'
import { viewPerson } from '../rows/view-issue.ts'

const MAX_FINGERPRINTS = 100
/** Parts that were erased or cannot be read are shown as none. */
const Parts = z.array(GroupingPart).catch([])

/** Why events belong to an issue: its fingerprints with their parts, and the issues merged into it. */
export async function viewGrouping(
  db: Connection,
  issue: { readonly id: string; readonly project_slug: string },
): Promise<GroupingView> {
  const [fingerprints, merged] = await Promise.all([
    selectFingerprints(db, issue.id, MAX_FINGERPRINTS),
    selectMergedIssues(db, issue.id),
  ])
  const [oldest] = fingerprints
  return {
    version: oldest?.grouping_version ?? LATEST_GROUPING_VERSION,
    parts: Parts.parse(oldest?.parts ?? []),
    fingerprints: fingerprints.map((row) => ({
      hash: row.hash.toString('hex'),
      version: row.grouping_version,
      parts: Parts.parse(row.parts),
      created_at: row.created_at.toISOString(),
      issue_id: row.group_id,
      short_id: shortId(issue.project_slug, row.number),
    })),
    merged: merged.map((row) => ({
      id: row.id,
      short_id: shortId(issue.project_slug, row.number),
      title: row.title,
      event_count: row.event_count,
      merged_at: row.merged_at.toISOString(),
      merged_by: viewPerson(row.merged_by, row.merged_by_name, row.merged_by_email),
    })),
  }
}
