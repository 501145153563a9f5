import { zstdDecompressSync } from 'node:zlib'
import { newId } from '../../platform/kernel/ids.ts'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { MAX_DIRECTORY_BYTES, MAX_PART_BYTES } from '../index-file/built-index.ts'
import type { FileToIndex } from './symbol-files.queries.ts'
import { INDEX_VERSIONS, type SymbolKind, type SymbolState } from './symbol-kinds.api.ts'

/** SQL of indexes: one for each content of an organisation, in parts that are read one by one. */

type Content = Pick<FileToIndex, 'org_id' | 'sha256' | 'object' | 'kind'>

/** Whether the content has an index of the present version. */
export async function hasIndex(db: Connection, content: Content): Promise<boolean> {
  const { rows } = await db.query(
    'select from symbol_indexes where org_id = $1 and sha256 = $2 and object = $3 and kind = $4 and version = $5',
    keyOf(content),
  )
  return rows.length > 0
}

/** Parts are sent to the database in pieces of about this size. */
const BATCH_BYTES = 4 * 1024 * 1024

/**
 * Stores an index in place of one of an older version.
 * @param packed the directory, then the parts, as `readPacked` gives them
 */
export async function insertIndex(tx: Tx, content: Content, packed: AsyncIterable<Buffer>, at: Date): Promise<void> {
  await tx.query('delete from symbol_indexes where org_id = $1 and sha256 = $2 and object = $3 and kind = $4', [
    content.org_id,
    content.sha256,
    content.object,
    content.kind,
  ])
  const id = newId()
  let rows = new CopyRows()
  let part = -1
  let bytes = 0
  const send = (): Promise<void> => tx.copyIn('symbol_parts (index_id, part, bytes)', rows)
  for await (const packedBytes of packed) {
    if (part++ < 0) {
      await tx.query(
        `insert into symbol_indexes (id, org_id, sha256, object, kind, version, directory, created_at)
         values ($7, $1, $2, $3, $4, $5, $6, $8)`,
        [...keyOf(content), packedBytes, id, at],
      )
      continue
    }
    rows.row(3)
    rows.uuid(id)
    rows.int32(part - 1)
    rows.bytes(packedBytes)
    bytes += packedBytes.length
    if (bytes < BATCH_BYTES) continue
    await send()
    rows = new CopyRows()
    bytes = 0
  }
  await send()
}

const keyOf = ({ org_id, sha256, object, kind }: Content) => [org_id, sha256, object, kind, INDEX_VERSIONS[kind]]

/** A file that answers a look-up. */
export type FoundFile = {
  readonly id: string
  readonly kind: SymbolKind
  readonly state: SymbolState
  readonly debugId: string | null
  /** Null while it has no index. */
  readonly indexId: string | null
}

type FoundRow = FoundFile & { readonly key: number }

const COLUMNS = 'f.id, f.kind, f.state, f.debug_id as "debugId", i.id as "indexId"'

const VERSION = `case f.kind ${Object.entries(INDEX_VERSIONS)
  .map(([kind, version]) => `when '${kind}' then ${version}`)
  .join(' ')} end`
const INDEX = `left join symbol_indexes i on i.org_id = f.org_id and i.sha256 = f.sha256 and i.object = f.object and i.kind = f.kind
             and i.version = ${VERSION}`
/**
 * A file that can be used comes before one that cannot, one with debug information before the stripped one of the same build,
 * then the newest.
 */
const BEST = `order by (f.state = 'ready') desc, ('debug' = any(f.features)) desc, f.created_at desc, f.id desc limit 1`

/**
 * Files of a project by debug id; the best of several. An obfuscation map of Dart has the debug id of the debug file of its
 * app, so that it is asked for by its kind.
 * @returns in the order of the ids, null where there is none
 */
export async function findByDebugId(
  db: Connection,
  projectId: string,
  debugIds: readonly string[],
  kind: 'dart_symbol_map' | null = null,
): Promise<(FoundFile | null)[]> {
  const { rows } = await db.query<FoundRow>({
    name: 'symbols-by-debug-id',
    text: `select k.n::int as key, ${COLUMNS}
           from unnest($2::uuid[]) with ordinality k (debug_id, n)
           cross join lateral (
             select * from symbol_files f where f.project_id = $1 and f.debug_id = k.debug_id
               and (f.kind = 'dart_symbol_map') = ($3::text is not null) ${BEST}
           ) f ${INDEX}`,
    values: [projectId, debugIds, kind],
  })
  return inOrder(debugIds.length, rows)
}

/** The release of an event, as files name it. */
export type ReleaseKey = { readonly release: string; readonly dist: string | null }

/**
 * Source maps by the address of the code they describe. A file without a dist answers for every dist.
 * @param urls addresses, such as `~/static/app.js`
 */
export async function findByUrl(
  db: Connection,
  projectId: string,
  { release, dist }: ReleaseKey,
  urls: readonly string[],
): Promise<(FoundFile | null)[]> {
  const { rows } = await db.query<FoundRow>({
    name: 'symbols-by-url',
    text: `select k.n::int as key, ${COLUMNS}
           from unnest($4::text[]) with ordinality k (url, n)
           cross join lateral (
             select * from symbol_files f
             where f.project_id = $1 and f.release = $2 and f.url = k.url and (f.dist is null or f.dist = $3)
             order by f.dist nulls last, (f.state = 'ready') desc, f.created_at desc, f.id desc limit 1
           ) f ${INDEX}`,
    values: [projectId, release, dist, urls],
  })
  return inOrder(urls.length, rows)
}

/** The newest mapping of ProGuard or R8 of a release. */
export async function findMapping(db: Connection, projectId: string, release: string): Promise<FoundFile | null> {
  const { rows } = await db.query<FoundRow>({
    name: 'symbols-mapping-of-release',
    text: `select 1 as key, ${COLUMNS}
           from (select * from symbol_files f where f.project_id = $1 and f.release = $2 and f.kind = 'proguard' ${BEST}) f ${INDEX}`,
    values: [projectId, release],
  })
  return inOrder(1, rows)[0] ?? null
}

/** Debug files of a project by name: one of each name, of any build. @returns in the order of the names */
export async function findByName(
  db: Connection,
  projectId: string,
  names: readonly string[],
): Promise<(FoundFile | null)[]> {
  const { rows } = await db.query<FoundRow>({
    name: 'symbols-by-name',
    text: `select k.n::int as key, ${COLUMNS}
           from unnest($2::text[]) with ordinality k (name, n)
           cross join lateral (
             select * from symbol_files f
             where f.project_id = $1 and f.name = k.name and f.kind in ('macho', 'elf', 'breakpad') limit 1
           ) f ${INDEX}`,
    values: [projectId, names],
  })
  return inOrder(names.length, rows)
}

function inOrder(count: number, rows: readonly FoundRow[]): (FoundFile | null)[] {
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return Array.from({ length: count }, (_, n) => byKey.get(n + 1) ?? null)
}

/** The directory of an index; null when it is gone. */
export async function readDirectory(db: Connection, indexId: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ directory: Buffer }>({
    name: 'symbols-directory',
    text: 'select directory from symbol_indexes where id = $1',
    values: [indexId],
  })
  const [row] = rows
  return row === undefined ? null : zstdDecompressSync(row.directory, { maxOutputLength: MAX_DIRECTORY_BYTES })
}

/** Parts of an index; those that are gone are missing. */
export async function readParts(
  db: Connection,
  indexId: string,
  parts: readonly number[],
): Promise<Map<number, Buffer>> {
  const { rows } = await db.query<{ part: number; bytes: Buffer }>({
    name: 'symbols-parts',
    text: 'select part, bytes from symbol_parts where index_id = $1 and part = any($2::int[])',
    values: [indexId, parts],
  })
  return new Map(rows.map(({ part, bytes }) => [part, zstdDecompressSync(bytes, { maxOutputLength: MAX_PART_BYTES })]))
}

/** Files whose index has the form of an earlier version, or is gone. At most `max`. */
export async function findUnindexed(db: Connection, max: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select f.id from symbol_files f ${INDEX} where f.state = 'ready' and i.id is null limit $1`,
    [max],
  )
  return rows.map(({ id }) => id)
}

/** Whether a project has any file, so that its events are looked at. */
export async function hasFiles(db: Connection, projectId: string): Promise<boolean> {
  const { rows } = await db.query('select from symbol_files where project_id = $1 limit 1', [projectId])
  return rows.length > 0
}
