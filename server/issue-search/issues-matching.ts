import type { RawBuilder } from 'kysely'
import type { OrgActor } from '../context/actor.ts'
import type { Connection } from '../storage/database.ts'
import {
  documentMatches,
  compileQuery,
  hasIdAmong,
  isFoundByIndex,
  not,
  termsOf,
  type Compiled,
  type Condition,
} from './compile-query.queries.ts'
import { prefixesOf, hasInfix, scanDocuments } from './scan-documents.queries.ts'
import { grouped, type Query, type Term } from './query.ts'
import { findByDocument } from './search.queries.ts'

/** Matches up to here are asked for by their ids. */
const FEW = 2_000
/** Up to here what matches is kept in memory for the length of a tsquery; documents of more are looked at one by one. */
const MANY = 200_000

/** What issues (`issues as i`) fulfil that answer a query: seen since then, and all conditions; nothing for the empty one. */
export type Matching = { readonly seenSince: Date | undefined; readonly conditions: readonly Condition[] }

/**
 * What issues that answer a query have to fulfil. The scope of the organisation is the caller's affair.
 * @param idsOf ids of the issues a caller would show that fulfil that
 * @param name what refusals call the query
 * @throws AppError invalid, naming the place: for people and projects the organisation does not have, and for patterns
 * that would look through too much
 */
export async function issuesMatching(
  db: Connection,
  actor: OrgActor,
  query: Query | null,
  now: Date,
  idsOf: (matching: Matching) => RawBuilder<unknown>,
  name = 'q',
): Promise<Matching> {
  const has = (part: Query): boolean => termsOf(part).some(hasInfix)
  const found = new Map<Term, readonly string[]>()
  // Whatever else every match fulfils narrows what is looked through, patterns that were looked for among it.
  const parts = query?.kind === 'and' ? query.parts : query === null ? [] : [query]
  const sure = parts.filter((part) => !has(part))
  for (const part of parts.filter(has)) {
    for (const term of termsOf(part).filter(hasInfix)) {
      const among = await matchingOf(db, actor, grouped('and', [...sure, prefixesOf(term)]), now, name, found)
      found.set(term, await scanDocuments(db, term, idsOf(among), name))
    }
    sure.push(part)
  }
  return matchingOf(db, actor, query, now, name, found)
}

async function matchingOf(
  db: Connection,
  actor: OrgActor,
  query: Query | null,
  now: Date,
  name: string,
  found: ReadonlyMap<Term, readonly string[]>,
): Promise<Matching> {
  const { conditions, seenSince, document } = await compileQuery(db, actor, query, now, name, found)
  if (document === null) return { seenSince, conditions }
  return { seenSince, conditions: [await documentCondition(db, actor.orgId, document), ...conditions] }
}

async function documentCondition(
  db: Connection,
  orgId: string,
  { tsquery, isSelective }: NonNullable<Compiled['document']>,
): Promise<Condition> {
  // What only negates is answered by most: fewer do not answer it.
  const asked = isSelective ? tsquery : `!(${tsquery})`
  const found = await findByDocument(db, orgId, asked, { few: FEW, many: MANY })
  if (found === 'many') return documentMatches(orgId, tsquery)
  const matches = found === 'some' ? isFoundByIndex(orgId, asked) : hasIdAmong(found)
  return isSelective ? matches : not(matches)
}
