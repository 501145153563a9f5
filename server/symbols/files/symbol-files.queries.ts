import { type Insertable, sql, type SqlBool } from 'kysely'
import { holdBlobs, releaseBlobs, type ReceivedContent } from '../../platform/blobs/blobs.queries.ts'
import type { TimeCursor } from '../../platform/kernel/time-cursor.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import type { ProjectPart } from '../../projects/registry/project-rows.ts'
import type { SymbolKind, SymbolState } from './symbol-kinds.api.ts'

/** SQL of files of symbols. */

/** The holder of their blobs. */
const SYMBOL_FILE = 'symbol_file'

export type SymbolFileRow = {
  readonly id: string
  readonly kind: SymbolKind
  readonly name: string
  readonly debug_id: string | null
  readonly code_id: string | null
  readonly cpu_name: string | null
  readonly release: string | null
  readonly dist: string | null
  readonly url: string | null
  readonly size_bytes: number
  readonly features: string[]
  readonly created_by: string | null
  readonly uploader: string | null
  readonly created_at: Date
  readonly state: SymbolState
  readonly problem: string | null
}

type NewFile = Insertable<Tables['symbol_files']>

/** Inserts a file whose content was received. */
export async function insertFiles(
  tx: Tx,
  files: readonly Omit<NewFile, 'sha256' | 'size_bytes'>[],
  content: ReceivedContent,
): Promise<void> {
  const rows = files.map((file) => ({ ...file, sha256: content.sha256, size_bytes: content.sizeBytes }))
  await tx.insertInto('symbol_files').values(rows).execute()
  await holdBlobs(
    tx,
    rows.map(({ id, org_id }) => ({ holder: SYMBOL_FILE, holderId: id, orgId: org_id, day: null, content })),
  )
}

const COLUMNS = [
  'f.id',
  'f.kind',
  'f.name',
  'f.debug_id',
  'f.code_id',
  'f.cpu_name',
  'f.release',
  'f.dist',
  'f.url',
  'f.size_bytes',
  'f.features',
  'f.created_by',
  'f.created_at',
  'f.state',
  'f.problem',
  'u.name as uploader',
] as const

const files = (db: Connection) => db.selectFrom('symbol_files as f').leftJoin('users as u', 'u.id', 'f.created_by')

type FileFilter = {
  readonly projectId: string
  readonly kinds: readonly SymbolKind[]
  readonly release: string | null
  readonly debugId: string | null
}

const matching = (db: Connection, { projectId, kinds, release, debugId }: FileFilter) => {
  let query = files(db)
    .where('f.project_id', '=', projectId)
    .where('f.kind', 'in', [...kinds])
  if (release !== null) query = query.where('f.release', '=', release)
  if (debugId !== null) query = query.where('f.debug_id', '=', debugId)
  return query
}

/** Newest first. */
export async function selectFiles(
  db: Connection,
  filter: FileFilter,
  page: { readonly limit: number; readonly offset: number; readonly after: TimeCursor | null },
): Promise<SymbolFileRow[]> {
  let query = matching(db, filter).select(COLUMNS)
  const { after } = page
  if (after !== null)
    query = query.where(sql<SqlBool>`(f.created_at, f.id) < (${after.at}::timestamptz, ${after.id}::uuid)`)
  const rows = await query
    .orderBy('f.created_at', 'desc')
    .orderBy('f.id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return rows
}

/** At most `max`. */
export async function countFiles(db: Connection, filter: FileFilter, max: number): Promise<number> {
  const { n } = await db
    .selectFrom(matching(db, filter).select('f.id').limit(max).as('some'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

/** Files of a project that were uploaded before with the same content and the same names. */
export async function selectSame(tx: Tx, projectId: string, sha256: Buffer): Promise<SymbolFileRow[]> {
  const rows = await files(tx)
    .select(COLUMNS)
    .where('f.project_id', '=', projectId)
    .where('f.sha256', '=', sha256)
    .execute()
  return rows
}

export async function selectFilesById(db: Connection, ids: readonly string[]): Promise<SymbolFileRow[]> {
  if (ids.length === 0) return []
  return files(db).select(COLUMNS).where('f.id', 'in', ids).orderBy('f.object').execute()
}

/** Locks a file of a project. */
export const lockFile = (tx: Tx, projectId: string, kinds: readonly SymbolKind[], id: string) =>
  tx
    .selectFrom('symbol_files')
    .select(['id', 'kind', 'name', 'created_by', 'org_id', 'sha256'])
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('kind', 'in', [...kinds])
    .forUpdate()
    .executeTakeFirst()

/** Deletes files. Their contents and indexes go with the last file that has them. */
export async function deleteFiles(tx: Tx, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const { rows } = await tx.query<{ org_id: string; sha256: Buffer }>(
    'delete from symbol_files where id = any($1::uuid[]) returning org_id, sha256',
    [ids],
  )
  await releaseBlobs(tx, SYMBOL_FILE, ids)
  await tx.query(
    `delete from symbol_indexes i using unnest($1::uuid[], $2::bytea[]) k (org_id, sha256)
     where i.org_id = k.org_id and i.sha256 = k.sha256
       and not exists (select from symbol_files f where f.org_id = k.org_id and f.sha256 = k.sha256)`,
    [rows.map(({ org_id }) => org_id), rows.map(({ sha256 }) => sha256)],
  )
  return rows.length
}

/** Waits until no other transaction stores files of the organisation. */
export async function lockFilesOfOrg(tx: Tx, orgId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1::text, 44))', [orgId])
}

/** A file with any content counts at least so much: its row and its index take room too. */
const FILE_BYTES = 16 * 1024

/** Bytes that the files of an organisation take, each content once. */
export async function bytesOfOrg(db: Connection, orgId: string): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(
    `select coalesce(sum(bytes + files * $2::int), 0)::float8 as bytes
     from (select max(size_bytes) as bytes, count(*) as files from symbol_files where org_id = $1 group by sha256) c`,
    [orgId, FILE_BYTES],
  )
  return rows[0]?.bytes ?? 0
}

/** Files of a deleted project. */
export const SYMBOL_PART: ProjectPart = {
  tables: ['symbol_files'],
  max: 50,
  async deleteRows(tx, projectId, max) {
    const { rows } = await tx.query<{ id: string }>('select id from symbol_files where project_id = $1 limit $2', [
      projectId,
      max,
    ])
    return deleteFiles(
      tx,
      rows.map(({ id }) => id),
    )
  },
}

// Indexing

/** A file with what building its index needs. */
export type FileToIndex = {
  readonly id: string
  readonly org_id: string
  readonly project_id: string
  readonly kind: SymbolKind
  readonly sha256: Buffer
  readonly object: number
  readonly size_bytes: number
  readonly blob_id: string
}

/** The file of an organisation that waits longest for its index. */
export async function selectWaitingFile(db: Connection, orgId: string): Promise<FileToIndex | undefined> {
  const { rows } = await db.query<FileToIndex>(
    `select f.id, f.org_id, f.project_id, f.kind, f.sha256, f.object, f.size_bytes::float8 as size_bytes, u.blob_id
     from symbol_files f join blob_uses u on u.holder = '${SYMBOL_FILE}' and u.holder_id = f.id
     where f.org_id = $1 and f.state = 'indexing' order by f.created_at, f.id limit 1`,
    [orgId],
  )
  return rows[0]
}

/** Counts that indexing begins. @returns how often it did */
export async function countAttempt(db: Connection, id: string): Promise<number> {
  const { rows } = await db.query<{ attempts: number }>(
    'update symbol_files set attempts = attempts + 1 where id = $1 returning attempts',
    [id],
  )
  return rows[0]?.attempts ?? 0
}

export async function forgetAttempt(db: Connection, id: string): Promise<void> {
  await db.query('update symbol_files set attempts = attempts - 1 where id = $1 and attempts > 0', [id])
}

/** Has files indexed again. */
export async function waitForIndex(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await tx.query(
      `update symbol_files set state = 'indexing', problem = null, attempts = 0 where id = any($1::uuid[])`,
      [ids],
    )
}

/** Organisations with files that wait for their index. */
export async function orgsWithWaitingFiles(db: Connection): Promise<string[]> {
  const { rows } = await db.query<{ org_id: string }>(
    `select distinct org_id from symbol_files where state = 'indexing'`,
  )
  return rows.map(({ org_id }) => org_id)
}

/** Sets how indexing ended, for all files of the organisation with this content. @returns their projects */
export async function markIndexed(
  tx: Tx,
  { org_id, sha256, object, kind }: Pick<FileToIndex, 'org_id' | 'sha256' | 'object' | 'kind'>,
  problem: string | null,
): Promise<string[]> {
  const { rows } = await tx.query<{ project_id: string }>(
    `update symbol_files set state = case when $5::text is null then 'ready' else 'failed' end, problem = $5
     where org_id = $1 and sha256 = $2 and object = $3 and kind = $4 returning project_id`,
    [org_id, sha256, object, kind, problem],
  )
  return [...new Set(rows.map(({ project_id }) => project_id))]
}

/** Names the release of a mapping. */
export async function nameMapping(tx: Tx, projectId: string, debugId: string, release: string): Promise<void> {
  await tx
    .updateTable('symbol_files')
    .set({ release })
    .where('project_id', '=', projectId)
    .where('debug_id', '=', debugId)
    .where('kind', '=', 'proguard')
    .execute()
}
