import type { Connection } from '../../platform/storage/database.ts'

/** Returns each issue's merge target, or the issue itself if it is not merged. Omits unknown ids. */
export async function selectMergeTargets(tx: Connection, issueIds: readonly string[]): Promise<Map<string, string>> {
  if (issueIds.length === 0) return new Map()
  const { rows } = await tx.query<{ id: string; target: string }>({
    name: 'issues-merge-targets',
    text: `select id, issue_id as target from issue_groups where id = any($1::uuid[])`,
    values: [issueIds],
  })
  return new Map(rows.map((row) => [row.id, row.target]))
}
