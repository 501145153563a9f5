import { sql, type SqlBool } from 'kysely'
import type { Actor } from '../../context/actor.ts'
import type { Database, Tx } from '../../storage/pool.ts'
import { answers, compileQuery, isAmong, type Compiled, type Condition } from './compile-query.ts'
import type { Query } from './query.ts'
import { findByDocument } from './search.queries.ts'

/** Matches up to here are asked for by their ids. */
const FEW = 2_000
/** Up to here what matches is kept in memory for the length of a question; documents of more are looked at one by one. */
const MANY = 200_000

/** What issues (`issues as i`) fulfil that answer a query: seen since then, and all conditions; nothing for the empty one. */
export type Matching = { readonly seenSince: Date | undefined; readonly conditions: readonly Condition[] }

/**
 * What issues that answer a query have to fulfil. The scope of the organisation is the caller's affair.
 * @param name what refusals call the query
 * @throws AppError invalid for people and projects the organisation does not have, naming the place
 */
export async function issuesMatching(
  db: Database | Tx,
  actor: Actor,
  query: Query | null,
  now: Date,
  name = 'q',
): Promise<Matching> {
  const { conditions, seenSince, document } = await compileQuery(db, actor, query, now, name)
  if (document === null) return { seenSince, conditions }
  return { seenSince, conditions: [await documentMatches(db, actor.orgId, document), ...conditions] }
}

async function documentMatches(
  db: Database | Tx,
  orgId: string,
  { question, isSelective }: NonNullable<Compiled['document']>,
): Promise<Condition> {
  // What only negates is answered by most: fewer do not answer it.
  const asked = isSelective ? question : `!(${question})`
  const found = await findByDocument(db, orgId, asked, { few: FEW, many: MANY })
  if (found === 'many') return answers(orgId, question)
  const matches = found === 'some' ? isAmong(orgId, asked) : sql<SqlBool>`i.id = any(${found}::uuid[])`
  return isSelective ? matches : sql<SqlBool>`not ${matches}`
}
