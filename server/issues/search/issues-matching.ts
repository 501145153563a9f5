import { sql, type SqlBool } from 'kysely'
import type { Actor } from '../../context/actor.ts'
import type { Database, Tx } from '../../storage/pool.ts'
import { answers, compileQuery, type Condition } from './compile-query.ts'
import type { Query } from './query.ts'
import { findByDocument } from './search.queries.ts'

/** Matches up to here are found by the index and then sorted; the list of more is read in its order. */
const FEW = 2_000

/**
 * What issues (`issues as i`) that answer a query have to fulfil, all of it; nothing for the empty query. The scope of
 * the organisation is the caller's affair.
 * @param name what refusals call the query
 * @throws AppError invalid for people and projects the organisation does not have, naming the place
 */
export async function issuesMatching(
  db: Database | Tx,
  actor: Actor,
  query: Query | null,
  now: Date,
  name = 'q',
): Promise<readonly Condition[]> {
  const { conditions, document } = await compileQuery(db, actor, query, now, name)
  if (document === null) return conditions
  const ids = document.isSelective ? await findByDocument(db, actor.orgId, document.question, FEW) : null
  return [
    ids === null ? answers(actor.orgId, document.question) : sql<SqlBool>`i.id = any(${ids}::uuid[])`,
    ...conditions,
  ]
}
