import { sql } from 'kysely'
import type { Connection, Tx } from '../storage/database.ts'
import { issuesByIndex } from './compile-query.queries.ts'
import { orgTerm } from './index-terms.ts'

/** Tables of the search: documents of issues, and terms on their way into them. */

const BETWEEN = '\u001E'

export const joined = (terms: readonly string[]): string => terms.join(BETWEEN)
export const apart = (terms: string): string[] => terms.split(BETWEEN)

export type NewDocument = { readonly issueId: string; readonly orgId: string; readonly terms: readonly string[] }

export async function insertDocuments(tx: Tx, documents: readonly NewDocument[]): Promise<void> {
  if (documents.length === 0) return
  await tx.query({
    name: 'search-insert-documents',
    text: `insert into issue_search (issue_id, document)
           select k.id, array_to_tsvector(string_to_array(k.terms, E'\\x1e')) from unnest($1::uuid[], $2::text[]) k (id, terms)`,
    values: [
      documents.map(({ issueId }) => issueId),
      documents.map(({ orgId, terms }) => joined([orgTerm(orgId), ...terms])),
    ],
  })
}

export async function insertNewTerms(
  tx: Tx,
  rows: readonly { issueId: string; terms: readonly string[] }[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'search-insert-terms',
    text: 'insert into issue_new_terms (issue_id, terms) select * from unnest($1::uuid[], $2::text[])',
    values: [rows.map(({ issueId }) => issueId), rows.map(({ terms }) => joined(terms))],
  })
}

/** Takes the oldest waiting terms, per issue; those another worker holds are left to it. */
export async function takeNewTerms(tx: Tx, most: number): Promise<Map<string, string[]>> {
  const { rows } = await tx.query<{ issue_id: string; terms: string }>({
    name: 'search-take-terms',
    text: `delete from issue_new_terms where id = any(array(
             select id from issue_new_terms order by id limit $1 for update skip locked)) returning issue_id, terms`,
    values: [most],
  })
  const taken = new Map<string, string[]>()
  for (const row of rows) {
    const before = taken.get(row.issue_id)
    const terms = apart(row.terms)
    if (before === undefined) taken.set(row.issue_id, terms)
    else for (const term of terms) before.push(term)
  }
  return taken
}

/** Documents of issues, locked in the order of their ids; those of issues that are gone are left out. */
export async function lockDocuments(tx: Tx, issueIds: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await tx.query<{ issue_id: string; terms: string }>({
    name: 'search-lock-documents',
    text: `select issue_id, array_to_string(tsvector_to_array(document), E'\\x1e') as terms from issue_search
           where issue_id = any($1::uuid[]) order by issue_id for no key update`,
    values: [issueIds],
  })
  return new Map(rows.map((row) => [row.issue_id, apart(row.terms)]))
}

export async function addToDocuments(
  tx: Tx,
  rows: readonly { issueId: string; terms: readonly string[] }[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'search-add-to-documents',
    text: `update issue_search s set document = s.document || array_to_tsvector(string_to_array(k.terms, E'\\x1e'))
           from unnest($1::uuid[], $2::text[]) k (id, terms) where s.issue_id = k.id`,
    values: [rows.map(({ issueId }) => issueId), rows.map(({ terms }) => joined(terms))],
  })
}

export type StaleDocument = {
  readonly issueId: string
  readonly orgId: string
  readonly title: string
  readonly firstRelease: string | null
  readonly lastRelease: string | null
  /** When that was asked for last, to the microsecond. */
  readonly since: string
}

/** Issues whose document is to be made anew, longest waiting first. */
export async function staleDocuments(db: Connection, most: number): Promise<StaleDocument[]> {
  const rows = await db
    .selectFrom('issue_search as s')
    .innerJoin('issues as i', 'i.id', 's.issue_id')
    .select(['i.id', 'i.org_id', 'i.title', 'i.first_release', 'i.last_release'])
    .select(sql<string>`s.stale_since::text`.as('since'))
    .where('s.stale_since', 'is not', null)
    .orderBy('s.stale_since')
    .limit(most)
    .execute()
  return rows.map((row) => ({
    issueId: row.id,
    orgId: row.org_id,
    title: row.title,
    firstRelease: row.first_release,
    lastRelease: row.last_release,
    since: row.since,
  }))
}

/** The document of an issue, locked; null when it is gone, made anew, or that was asked for once more since. */
export async function lockStaleDocument(tx: Tx, issueId: string, since: string): Promise<string[] | null> {
  const { rows } = await tx.query<{ terms: string }>({
    name: 'search-lock-stale-document',
    text: `select array_to_string(tsvector_to_array(document), E'\\x1e') as terms from issue_search
           where issue_id = $1 and stale_since = $2::timestamptz for no key update`,
    values: [issueId, since],
  })
  const [row] = rows
  return row === undefined ? null : apart(row.terms)
}

/** The document was made anew. Its lock is held since it was found stale. */
export async function markFresh(tx: Tx, issueId: string): Promise<void> {
  await tx.query({
    name: 'search-mark-fresh',
    text: 'update issue_search set stale_since = null where issue_id = $1',
    values: [issueId],
  })
}

/** What issues are found by, together. */
export async function termsOfDocuments(db: Connection, issueIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ term: string }>`
    select distinct l as term from issue_search s, unnest(tsvector_to_array(s.document)) l
    where s.issue_id = any(${[...issueIds]}::uuid[]) limit ${MAX_UNITED}`.execute(db)
  return rows.map((row) => row.term)
}

/** Puts a document back to these terms, and asks for it to be made anew from stored events. */
export async function restart(tx: Tx, issueId: string, terms: readonly string[]): Promise<void> {
  await sql`update issue_search s set stale_since = now(),
      own_document = case when s.own_document is not null then array_to_tsvector(array[E'\\x1forg\\x1f' || i.org_id::text]) end,
      document = array_to_tsvector(array_append(string_to_array(${joined(terms)}, E'\\x1e'), E'\\x1forg\\x1f' || i.org_id::text))
    from issues i where s.issue_id = ${issueId} and i.id = s.issue_id`.execute(tx)
}

/**
 * Adds the documents of merged issues to the one they lead to, whose own is kept beside it; later what their newest
 * events say joins them.
 */
export async function mergeDocuments(tx: Tx, targetId: string): Promise<void> {
  await sql`update issue_search s set stale_since = now(),
      own_document = case when exists (select from issues where merged_into = ${targetId}) then coalesce(s.own_document, s.document) end,
      document = s.document || array_to_tsvector(array(
        select distinct l from issues i join issue_search o on o.issue_id = i.id, unnest(tsvector_to_array(o.document)) l
        where i.merged_into = ${targetId} limit ${MAX_UNITED}))
    where s.issue_id = ${targetId}`.execute(tx)
}

/** Takes the document of an issue back to what it was before others were merged into it; {@link mergeDocuments} follows. */
export async function restoreOwnDocument(tx: Tx, targetId: string): Promise<void> {
  await sql`update issue_search set document = coalesce(own_document, document) where issue_id = ${targetId}`.execute(
    tx,
  )
}

/** A document of PostgreSQL holds at most 1 MB. */
const MAX_UNITED = 5_000

/** Forgets what waits to join the document of an issue. */
export async function deleteNewTerms(tx: Tx, issueId: string): Promise<void> {
  await tx.deleteFrom('issue_new_terms').where('issue_id', '=', issueId).execute()
}

/**
 * Issues whose documents answer a tsquery, when they are at most `few`; else whether they are more than `many`, which
 * is only counted where there can be so many.
 */
export async function findByDocument(
  db: Connection,
  orgId: string,
  tsquery: string,
  { few, many }: { readonly few: number; readonly many: number },
): Promise<readonly string[] | 'some' | 'many'> {
  const found = issuesByIndex(orgId, tsquery)
  const { rows } = await sql<{ issue_id: string; documents: number }>`
    select f.issue_id, (select reltuples::float8 from pg_class where oid = 'issue_search'::regclass) as documents
    from (${found}) f limit ${few + 1}`.execute(db)
  const documents = rows[few]?.documents
  if (documents === undefined) return rows.map((row) => row.issue_id)
  // An estimate, below 0 before the first one.
  if (documents >= 0 && documents <= many * 0.75) return 'some'
  const beyond = await sql`select from (${found}) f offset ${many} limit 1`.execute(db)
  return beyond.rows.length === 0 ? 'some' : 'many'
}
