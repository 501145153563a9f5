import { unavailable } from '../kernel/errors.ts'
import { CONTENT_ENCODINGS } from '../kernel/inflate.ts'
import { newId } from '../kernel/ids.ts'
import { CopyRows } from '../storage/copy-in.ts'
import type { Connection, Tx } from '../storage/database.ts'
import { unpackPiece, type PackedContent, type Piece } from './pack-content.ts'

/** SQL of blobs: contents that an organisation stores once, however many rows need them. */

/** Content whose pieces are stored already, under the id of an unfinished blob (`receiveContent`). */
export type ReceivedContent = Pick<PackedContent, 'sizeBytes' | 'sha256'> & { readonly draftId: string }

/** A row that needs content. */
export type BlobUse = {
  /** The kind of the row, which the caller chooses. */
  readonly holder: string
  readonly holderId: string
  readonly orgId: string
  /** The day of the row's partition; null without one. */
  readonly day: string | null
  readonly content: PackedContent | ReceivedContent
}

const keyOf = (orgId: string, sha256: Buffer): string => `${orgId}${sha256.toString('base64')}`

/**
 * Stores the contents that the organisation does not have yet, and notes who needs them. A content that loses its last
 * other use at the same time stays.
 * @throws AppError unavailable when a received content was removed, a day after its upload began
 */
export async function holdBlobs(tx: Tx, uses: readonly BlobUse[]): Promise<void> {
  if (uses.length === 0) return
  // Two transactions with the same contents wait for each other, so all of them insert in one order.
  const wanted = new Map(
    uses
      .map((use) => [keyOf(use.orgId, use.content.sha256), use] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  )
  const blobIds = new Map<string, string>()
  const pieces = new CopyRows()
  // Another transaction may insert or delete a blob between the two statements.
  while (blobIds.size < wanted.size) {
    for (const { key, id } of await lockBlobs(tx, missingOf(wanted, blobIds))) blobIds.set(key, id)
    for (const { key, id } of await insertBlobs(tx, missingOf(wanted, blobIds))) {
      blobIds.set(key, id)
      const content = wanted.get(key)?.content
      if (content !== undefined && 'pieces' in content) addPieces(pieces, id, content.pieces)
      else if (content !== undefined) await movePieces(tx, content.draftId, id)
    }
  }
  await tx.copyIn('blob_pieces (blob_id, seq, encoding, bytes)', pieces)
  await removeDrafts(
    tx,
    uses.flatMap(({ content }) => ('draftId' in content ? content.draftId : [])),
  )
  const rows = new CopyRows()
  for (const { holder, holderId, orgId, day, content } of uses) {
    rows.row(4)
    rows.text(holder)
    rows.uuid(holderId)
    rows.uuid(blobIds.get(keyOf(orgId, content.sha256)) ?? '')
    if (day === null) rows.nothing()
    else rows.day(day)
  }
  await tx.copyIn('blob_uses (holder, holder_id, blob_id, day)', rows)
}

const missingOf = (wanted: ReadonlyMap<string, BlobUse>, found: ReadonlyMap<string, string>): BlobUse[] =>
  [...wanted].flatMap(([key, use]) => (found.has(key) ? [] : use))

type FoundBlob = { readonly key: string; readonly id: string }
type BlobRow = { id: string; org_id: string; sha256: Buffer }
const found = ({ id, org_id, sha256 }: BlobRow): FoundBlob => ({ key: keyOf(org_id, sha256), id })

/** Blobs that exist; no other transaction can remove them before this one ends. */
async function lockBlobs(tx: Tx, uses: readonly BlobUse[]): Promise<FoundBlob[]> {
  const { rows } = await tx.query<BlobRow>({
    name: 'blobs-lock',
    text: `select b.id, b.org_id, b.sha256 from unnest($1::uuid[], $2::bytea[]) k (org_id, sha256)
           join blobs b on b.org_id = k.org_id and b.sha256 = k.sha256 for key share of b`,
    values: [uses.map(({ orgId }) => orgId), uses.map(({ content }) => content.sha256)],
  })
  return rows.map(found)
}

/** @returns those that no other transaction has inserted meanwhile */
async function insertBlobs(tx: Tx, uses: readonly BlobUse[]): Promise<FoundBlob[]> {
  if (uses.length === 0) return []
  const { rows } = await tx.query<BlobRow>({
    name: 'blobs-insert',
    text: `insert into blobs (id, org_id, sha256, size_bytes)
           select id, org_id, sha256, size_bytes from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bigint[])
             k (id, org_id, sha256, size_bytes)
           on conflict (org_id, sha256) do nothing returning id, org_id, sha256`,
    values: [
      uses.map(() => newId()),
      uses.map(({ orgId }) => orgId),
      uses.map(({ content }) => content.sha256),
      uses.map(({ content }) => content.sizeBytes),
    ],
  })
  return rows.map(found)
}

function addPieces(rows: CopyRows, blobId: string, pieces: readonly Piece[]): void {
  for (const [seq, { encoding, bytes }] of pieces.entries()) {
    rows.row(4)
    rows.uuid(blobId)
    rows.int32(seq)
    rows.int16(CONTENT_ENCODINGS.indexOf(encoding))
    rows.bytes(bytes)
  }
}

/** Changes the rows of the pieces, not their bytes. */
async function movePieces(tx: Tx, from: string, to: string): Promise<void> {
  await tx.updateTable('blob_pieces').set({ blob_id: to }).where('blob_id', '=', from).execute()
}

async function removeDrafts(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { rowCount } = await tx.query('delete from blobs where id = any($1::uuid[]) and draft_since is not null', [ids])
  if (rowCount !== ids.length) throw unavailable('The upload took too long. Send it again.', 5)
}

/** Ends the uses of these rows. A content that no other row needs is deleted with the commit. */
export async function releaseBlobs(tx: Tx, holder: string, holderIds: readonly string[]): Promise<void> {
  if (holderIds.length === 0) return
  const { rows } = await tx.query<{ blob_id: string }>(
    'delete from blob_uses where holder = $1 and holder_id = any($2::uuid[]) returning blob_id',
    [holder, holderIds],
  )
  // At the end, because digestion may wait for a blob that is locked here.
  tx.defer(
    removeUnused,
    rows.map(({ blob_id }) => blob_id),
  )
}

/**
 * Ends at most `max` uses of rows whose days are dropped, or that a program deleted which does not know blobs.
 * @returns number of uses
 */
export async function releaseBlobsBefore(tx: Tx, holder: string, day: string, max: number): Promise<number> {
  const { rows } = await tx.query<{ holder_id: string }>(
    'select holder_id from blob_uses where holder = $1 and day < $2::date limit $3',
    [holder, day, max],
  )
  await releaseBlobs(
    tx,
    holder,
    rows.map(({ holder_id }) => holder_id),
  )
  return rows.length
}

/**
 * Deletes those of the blobs that no row needs. Leaves out a blob that another transaction locks: that one begins to use
 * it, or deletes it; and it never waits, so that it is in no deadlock. {@link removeGarbage} deletes what is left over.
 */
async function deleteUnused(tx: Tx, ids: readonly string[]): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    'select id from blobs where id = any($1::uuid[]) for update skip locked',
    [[...new Set(ids)]],
  )
  // A statement of its own, which sees the uses that were committed before the lock was taken.
  const { rowCount } = await tx.query(
    'delete from blobs b where id = any($1::uuid[]) and not exists (select from blob_uses u where u.blob_id = b.id)',
    [rows.map(({ id }) => id)],
  )
  return rowCount ?? 0
}

const removeUnused = async (tx: Tx, ids: readonly string[]): Promise<void> => void (await deleteUnused(tx, ids))

/**
 * Deletes at most `max` blobs that no row needs; unfinished ones only when they began before `draftsBefore`.
 * @returns number deleted
 */
export async function removeGarbage(tx: Tx, draftsBefore: Date, max: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from blobs b where (draft_since is null or draft_since < $1)
       and not exists (select from blob_uses u where u.blob_id = b.id) limit $2`,
    [draftsBefore, max],
  )
  return deleteUnused(
    tx,
    rows.map(({ id }) => id),
  )
}

/** One piece of a blob, decompressed; null when the blob was deleted meanwhile. */
export async function readPiece(db: Connection, blobId: string, seq: number): Promise<Buffer | null> {
  const row = await db
    .selectFrom('blob_pieces')
    .select(['encoding', 'bytes'])
    .where('blob_id', '=', blobId)
    .where('seq', '=', seq)
    .executeTakeFirst()
  return row === undefined ? null : unpackPiece(row.encoding, row.bytes)
}

/** Begins a blob whose content is not known yet. */
export async function insertDraft(db: Connection, orgId: string, at: Date): Promise<string> {
  const id = newId()
  await db.insertInto('blobs').values({ id, org_id: orgId, draft_since: at }).execute()
  return id
}

/** Adds a piece to an unfinished blob. */
export async function insertPiece(db: Connection, draftId: string, seq: number, piece: Piece): Promise<void> {
  await db
    .insertInto('blob_pieces')
    .values({ blob_id: draftId, seq, encoding: CONTENT_ENCODINGS.indexOf(piece.encoding), bytes: piece.bytes })
    .execute()
}

/** Removes an unfinished blob with its pieces. */
export async function deleteDraft(db: Connection, id: string): Promise<void> {
  await db.deleteFrom('blobs').where('id', '=', id).where('draft_since', 'is not', null).execute()
}
