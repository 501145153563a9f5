import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'

/** SQL that reads the terms of documents, for suggestions. */

export type TermCount = {
  readonly term: string
  readonly issues: number
  /** An issue with it. */
  readonly issueId: string
}

/** Returns the terms of documents that begin with a text, and in how many documents each is; most first. */
export async function countTerms(
  db: Connection,
  issueIds: readonly string[],
  beginning: string,
  max: number,
): Promise<TermCount[]> {
  const { rows } = await sql<TermCount>`
    select l as term, count(*)::int as issues, (array_agg(s.issue_id))[1] as "issueId" from issue_search s, unnest(tsvector_to_array(s.document)) l
    where s.issue_id = any(${[...issueIds]}::uuid[]) and starts_with(l, ${beginning})
    group by l order by 2 desc, 1 limit ${max}`.execute(db)
  return rows
}
