import type { RawBuilder } from 'kysely'
import type { OrgActor } from '../context/actor.ts'
import type { Connection } from '../storage/database.ts'
import {
  answers,
  compileQuery,
  hasIdAmong,
  isAmong,
  not,
  termsOf,
  type Compiled,
  type Condition,
} from './compile-query.queries.ts'
import { beginningOf, isInfix, lookThrough } from './look-through.queries.ts'
import { grouped, type Query, type Term } from './query.ts'
import { findByDocument } from './search.queries.ts'

/** Matches up to here are asked for by their ids. */
const FEW = 2_000
/** Up to here what matches is kept in memory for the length of a question; documents of more are looked at one by one. */
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
  const has = (part: Query): boolean => termsOf(part).some(isInfix)
  const found = new Map<Term, readonly string[]>()
  // Whatever else every match fulfils narrows what is looked through, patterns that were looked for among it.
  const parts = query?.kind === 'and' ? query.parts : query === null ? [] : [query]
  const sure = parts.filter((part) => !has(part))
  for (const part of parts.filter(has)) {
    for (const term of termsOf(part).filter(isInfix)) {
      const among = await matchingOf(db, actor, grouped('and', [...sure, beginningOf(term)]), now, name, found)
      found.set(term, await lookThrough(db, term, idsOf(among), name))
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
  return { seenSince, conditions: [await documentMatches(db, actor.orgId, document), ...conditions] }
}

async function documentMatches(
  db: Connection,
  orgId: string,
  { question, isSelective }: NonNullable<Compiled['document']>,
): Promise<Condition> {
  // What only negates is answered by most: fewer do not answer it.
  const asked = isSelective ? question : `!(${question})`
  const found = await findByDocument(db, orgId, asked, { few: FEW, many: MANY })
  if (found === 'many') return answers(orgId, question)
  const matches = found === 'some' ? isAmong(orgId, asked) : hasIdAmong(found)
  return isSelective ? matches : not(matches)
}
