import { sql } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { issuesByIndex } from './compile-query.queries.ts'
import { orgTerm } from './index-terms.ts'

/** The search tables: documents of issues, and new terms that are not yet in a document. */

const SEPARATOR = '\u001E'

const joined = (terms: readonly string[]): string => terms.join(SEPARATOR)
const split = (terms: string): string[] => terms.split(SEPARATOR)

type NewDocument = { readonly issueId: string; readonly orgId: string; readonly terms: readonly string[] }

export function insertDocuments(tx: Tx, documents: readonly NewDocument[]): void {
  if (documents.length === 0) return
  tx.sendReferring({
    name: 'search-insert-documents',
    text: `insert into issue_search (issue_id, document)
           select k.id, array_to_tsvector(string_to_array(k.terms, E'\\x1e')) from unnest($1::uuid[], $2::text[]) k (id, terms)`,
    values: [
      documents.map(({ issueId }) => issueId),
      documents.map(({ orgId, terms }) => joined([orgTerm(orgId), ...terms])),
    ],
  })
}

export function insertNewTerms(tx: Tx, rows: readonly { issueId: string; terms: readonly string[] }[]): void {
  if (rows.length === 0) return
  tx.send({
    name: 'search-insert-terms',
    text: 'insert into issue_new_terms (issue_id, terms) select * from unnest($1::uuid[], $2::text[])',
    values: [rows.map(({ issueId }) => issueId), rows.map(({ terms }) => joined(terms))],
  })
}

/** Deletes and returns the oldest new terms, per issue. Skips rows that another worker has locked. */
export async function takeNewTerms(tx: Tx, max: number): Promise<Map<string, string[]>> {
  const { rows } = await tx.query<{ issue_id: string; terms: string }>({
    name: 'search-take-terms',
    text: `delete from issue_new_terms where id = any(array(
             select id from issue_new_terms order by id limit $1 for update skip locked)) returning issue_id, terms`,
    values: [max],
  })
  const taken = new Map<string, string[]>()
  for (const row of rows) {
    const before = taken.get(row.issue_id)
    const terms = split(row.terms)
    if (before === undefined) taken.set(row.issue_id, terms)
    else for (const term of terms) before.push(term)
  }
  return taken
}

/** Locks documents in the order of their issue ids. Omits deleted issues. */
export async function lockDocuments(tx: Tx, issueIds: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await tx.query<{ issue_id: string; terms: string }>({
    name: 'search-lock-documents',
    text: `select issue_id, array_to_string(tsvector_to_array(document), E'\\x1e') as terms from issue_search
           where issue_id = any($1::uuid[]) order by issue_id for no key update`,
    values: [issueIds],
  })
  return new Map(rows.map((row) => [row.issue_id, split(row.terms)]))
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
  /** When it last became stale, in microseconds. */
  readonly since: string
}

/** Returns issues whose documents must be rebuilt, oldest first, after another one. */
export async function staleDocuments(
  db: Connection,
  max: number,
  after: Pick<StaleDocument, 'since' | 'issueId'> | null,
): Promise<StaleDocument[]> {
  let query = db
    .selectFrom('issue_search as s')
    .innerJoin('issues as i', 'i.id', 's.issue_id')
    .select(['i.id', 'i.org_id', 'i.title', 'i.first_release', 'i.last_release'])
    .select(sql<string>`s.stale_since::text`.as('since'))
    .where('s.stale_since', 'is not', null)
    .orderBy('s.stale_since')
    .orderBy('s.issue_id')
    .limit(max)
  if (after !== null)
    query = query.where(
      sql<boolean>`(s.stale_since, s.issue_id) > (${after.since}::timestamptz, ${after.issueId}::uuid)`,
    )
  const rows = await query.execute()
  return rows.map((row) => ({
    issueId: row.id,
    orgId: row.org_id,
    title: row.title,
    firstRelease: row.first_release,
    lastRelease: row.last_release,
    since: row.since,
  }))
}

/** Locks an issue's document. Returns null if it was deleted or rebuilt, or became stale again after `since`. */
export async function lockStaleDocument(tx: Tx, issueId: string, since: string): Promise<string[] | null> {
  const { rows } = await tx.query<{ terms: string }>({
    name: 'search-lock-stale-document',
    text: `select array_to_string(tsvector_to_array(document), E'\\x1e') as terms from issue_search
           where issue_id = $1 and stale_since = $2::timestamptz for no key update`,
    values: [issueId, since],
  })
  const [row] = rows
  return row === undefined ? null : split(row.terms)
}

/**
 * Adds terms to a stale document, which then is no longer stale if these are all. One statement: a second update of a row in a transaction
 * checks its reference, and so waits for a merge that has locked the issue and waits for the document.
 * @param issueId an issue whose document this transaction locked with {@link lockStaleDocument}
 */
export async function refreshDocument(
  tx: Tx,
  issueId: string,
  terms: readonly string[],
  areAll: boolean,
): Promise<void> {
  await tx.query({
    name: 'search-refresh-document',
    text: `update issue_search set stale_since = case when $3 then null else stale_since end,
             document = document || array_to_tsvector(string_to_array($2, E'\\x1e')) where issue_id = $1`,
    values: [issueId, joined(terms), areAll],
  })
}

/** Returns the united terms of several documents, at most {@link MAX_UNITED}. */
export async function termsOfDocuments(db: Connection, issueIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ term: string }>`
    select distinct l as term from issue_search s, unnest(tsvector_to_array(s.document)) l
    where s.issue_id = any(${[...issueIds]}::uuid[]) limit ${MAX_UNITED}`.execute(db)
  return rows.map((row) => row.term)
}

/** Replaces the terms of a document and marks it as stale. */
export async function resetTerms(tx: Tx, issueId: string, terms: readonly string[]): Promise<void> {
  await sql`update issue_search s set stale_since = now(),
      own_document = case when s.own_document is not null then array_to_tsvector(array[E'\\x1forg\\x1f' || i.org_id::text]) end,
      document = array_to_tsvector(array_append(string_to_array(${joined(terms)}, E'\\x1e'), E'\\x1forg\\x1f' || i.org_id::text))
    from issues i where s.issue_id = ${issueId} and i.id = s.issue_id`.execute(tx)
}

/**
 * Adds the documents of merged issues to those of their merge targets, which keep copies of their own, and marks them as
 * stale.
 */
export async function mergeDocuments(tx: Tx, targetIds: readonly string[]): Promise<void> {
  await sql`update issue_search s set stale_since = now(),
      own_document = case when exists (select from issue_groups g where g.issue_id = s.issue_id and g.id <> s.issue_id)
        then coalesce(s.own_document, s.document) end,
      document = s.document || array_to_tsvector(array(
        select distinct l from issue_groups g join issue_search o on o.issue_id = g.id, unnest(tsvector_to_array(o.document)) l
        where g.issue_id = s.issue_id and g.id <> s.issue_id limit ${MAX_UNITED}))
    where s.issue_id = any(${[...targetIds]}::uuid[])`.execute(tx)
}

/** Restores the documents that issues had before others were merged into them. */
export async function restoreOwnDocuments(tx: Tx, issueIds: readonly string[]): Promise<void> {
  await sql`update issue_search set document = own_document, own_document = null
    where issue_id = any(${[...issueIds]}::uuid[]) and own_document is not null`.execute(tx)
}

/** A PostgreSQL tsvector holds at most 1 MB. */
const MAX_UNITED = 5_000

/** Deletes the new terms of an issue that are not yet in its document. */
export async function deleteNewTerms(tx: Tx, issueId: string): Promise<void> {
  await tx.deleteFrom('issue_new_terms').where('issue_id', '=', issueId).execute()
}

/**
 * Returns the issues whose documents match, if there are at most `few`. Otherwise returns whether there are more than
 * `many`, and counts only if the table is that large.
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
  // PostgreSQL's estimate; negative before the first ANALYZE.
  if (documents >= 0 && documents <= many * 0.75) return 'some'
  const beyond = await sql`select from (${found}) f offset ${many} limit 1`.execute(db)
  return beyond.rows.length === 0 ? 'some' : 'many'
}

/** SQL that reads the terms of documents, for suggestions. */

type TermCount = {
  readonly term: string
  readonly issues: number
  /** An issue with it. */
  readonly issueId: string
}

/** Returns words of documents, those of most issues first; no facts. */
export async function selectWords(db: Connection, issueIds: readonly string[], max: number): Promise<string[]> {
  if (issueIds.length === 0) return []
  const { rows } = await sql<{ word: string }>`
    select l as word from issue_search s, unnest(tsvector_to_array(s.document)) l
    where s.issue_id = any(${[...issueIds]}::uuid[]) and ascii(l) > 32 and length(l) between 4 and 40
    group by l order by count(*) desc, l limit ${max}`.execute(db)
  return rows.map(({ word }) => word)
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
