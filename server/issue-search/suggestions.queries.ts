import { sql } from 'kysely'
import type { Connection } from '../storage/database.ts'
import { escapeLike } from './like.ts'

/** What documents hold, for suggestions. */

export type TermCount = { readonly term: string; readonly issues: number }

/** Returns the terms of documents that begin with one of these texts, and in how many documents each is; most first. */
export async function countTerms(
  db: Connection,
  issueIds: readonly string[],
  beginnings: readonly string[],
  max: number,
): Promise<TermCount[]> {
  const patterns = beginnings.map((beginning) => `${escapeLike(beginning)}%`)
  const { rows } = await sql<TermCount>`
    select l as term, count(*)::int as issues from issue_search s, unnest(tsvector_to_array(s.document)) l
    where s.issue_id = any(${[...issueIds]}::uuid[]) and l like any(${patterns}::text[])
    group by l order by 2 desc, 1 limit ${max}`.execute(db)
  return rows
}
