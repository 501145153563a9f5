import type { RawBuilder } from 'kysely'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { Connection } from '../../platform/storage/database.ts'
import {
  documentMatches,
  compileQuery,
  hasIdAmong,
  isFoundByIndex,
  not,
  collectTerms,
  type Compiled,
  type Condition,
} from './compile-query.queries.ts'
import { toPrefixQuery, isScanned, scanDocuments } from './scan-documents.queries.ts'
import { grouped, type Query, type Term } from './query.ts'
import { findByDocument } from './search.queries.ts'

/** Up to this many matches, the list is read by their ids. */
const FEW = 2_000
/** Up to this many matches, the index is read into memory; beyond, documents are read one by one. */
const MANY = 200_000

/** Conditions that matches of a query (`issues as i`) fulfil: all `conditions`, and last seen since `seenSince`. */
export type Matching = {
  readonly seenSince: Date | undefined
  readonly conditions: readonly Condition[]
  /** Whether the index finds no issue of the organisation. */
  readonly isNone?: boolean
}

/**
 * Returns what the matches of a query fulfil. The caller restricts them to the organisation.
 * @param idsOf a query for the ids of the issues in the caller's list that fulfil something
 * @param name name of the query in error messages
 * @throws AppError invalid, with the position, for members and projects that the organisation does not have, and for
 * patterns that would scan too many documents
 */
export async function issuesMatching(
  db: Connection,
  actor: OrgActor,
  query: Query | null,
  now: Date,
  idsOf: (matching: Matching) => RawBuilder<unknown>,
  name = 'q',
): Promise<Matching> {
  const has = (part: Query): boolean => collectTerms(part).some(isScanned)
  const found = new Map<Term, readonly string[]>()
  // The other parts of the query, and the patterns already scanned, reduce the documents to scan.
  const parts = query?.kind === 'and' ? query.parts : query === null ? [] : [query]
  const narrowing = parts.filter((part) => !has(part))
  for (const part of parts.filter(has)) {
    for (const term of collectTerms(part).filter(isScanned)) {
      const within = await matchingOf(db, actor, grouped('and', [...narrowing, toPrefixQuery(term)]), now, name, found)
      found.set(term, await scanDocuments(db, term, idsOf(within), name))
    }
    narrowing.push(part)
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
  const { condition, isNone } = await documentCondition(db, actor.orgId, document)
  return { seenSince, conditions: [condition, ...conditions], isNone }
}

async function documentCondition(
  db: Connection,
  orgId: string,
  { tsquery, isSelective }: NonNullable<Compiled['document']>,
): Promise<{ readonly condition: Condition; readonly isNone: boolean }> {
  // Most documents match a negation, so the others are read instead.
  const selective = isSelective ? tsquery : `!(${tsquery})`
  const found = await findByDocument(db, orgId, selective, { few: FEW, many: MANY })
  if (found === 'many') return { condition: documentMatches(orgId, tsquery), isNone: false }
  const matches = found === 'some' ? isFoundByIndex(orgId, selective) : hasIdAmong(found)
  return { condition: isSelective ? matches : not(matches), isNone: isSelective && found.length === 0 }
}
