import { shortId } from '#shared/issue-values.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** An issue as causes of ANRs link to it. */
export type LinkedIssue = { readonly id: string; readonly shortId: string }

/** The issues that show the groups of fingerprints, by the fingerprint in hexadecimal. Others are no fingerprints. */
export async function issuesOfFingerprints(
  db: Connection,
  projectIds: readonly string[],
  hashes: readonly string[],
): Promise<Map<string, LinkedIssue>> {
  const valid = hashes.filter((hash) => /^(?:[0-9a-f]{2})+$/.test(hash)).map((hash) => Buffer.from(hash, 'hex'))
  const rows = await db
    .selectFrom('issue_fingerprints as f')
    .innerJoin('issue_groups as g', 'g.id', 'f.group_id')
    .innerJoin('issues as i', 'i.id', 'g.issue_id')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .where('f.project_id', 'in', [...projectIds])
    .where('f.hash', 'in', valid)
    .select(['f.hash', 'i.id', 'i.number', 'p.slug'])
    .execute()
  return new Map(
    rows.map(({ hash, id, number, slug }) => [hash.toString('hex'), { id, shortId: shortId(slug, number) }]),
  )
}
