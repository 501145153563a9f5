import { createReadStream } from 'node:fs'
import { requireActingMember, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { deleteDraft, type ReceivedContent } from '../../platform/blobs/blobs.queries.ts'
import { receiveContent } from '../../platform/blobs/receive-content.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { retryOnDeadlock } from '../../platform/storage/retry-on-deadlock.ts'
import {
  bytesOfOrg,
  insertFiles,
  lockFilesOfOrg,
  selectFilesById,
  selectSame,
  type SymbolFileRow,
  waitForIndex,
} from '../files/symbol-files.queries.ts'
import { CODE_KINDS, type SymbolKind } from '../files/symbol-kinds.api.ts'
import { addIndexJob } from '../indexing/index-job.ts'

/** The names of a file, beside its content. */
export type FileNames = {
  readonly kind: SymbolKind
  readonly name: string
  readonly debugId: string | null
  readonly codeId: string | null
  readonly cpuName: string | null
  readonly release: string | null
  readonly dist: string | null
  readonly url: string | null
  readonly object: number
  readonly features: readonly string[]
}

/** The form of a file with one object and no names. */
export const unnamedFile = (kind: SymbolKind, name: string): FileNames => ({
  kind,
  name,
  debugId: null,
  codeId: null,
  cpuName: null,
  release: null,
  dist: null,
  url: null,
  object: 0,
  features: [],
})

/** Symbol files of an organisation, each content once. */
export const MAX_ORG_BYTES = 20 * 1024 ** 3

const isCode = (kind: SymbolKind): boolean => CODE_KINDS.some((one) => one === kind)

/**
 * Stores one content under one or several names, and has its indexes built. A file that the project has already is not
 * stored again; one that could not be indexed is tried once more.
 * @returns the files, and whether all of them were there before
 * @throws AppError conflict when the organisation's files would take too much room
 */
export async function storeFiles(
  app: App,
  actor: OrgActor,
  projectId: string,
  path: string,
  names: readonly FileNames[],
): Promise<{ readonly files: readonly SymbolFileRow[]; readonly areKnown: boolean }> {
  const { orgId } = actor
  const content = await receiveContent(app, orgId, createReadStream(path))
  try {
    if (content.sizeBytes === 0) throw invalid('The file is empty.')
    return await retryOnDeadlock(() => app.tx((tx) => storeContent(tx, app, actor, projectId, content, names)))
  } finally {
    // A known content, and a refused one, would otherwise stay for a day.
    await deleteDraft(app.db, content.draftId).catch(() => {})
  }
}

async function storeContent(
  tx: Tx,
  app: App,
  actor: OrgActor,
  projectId: string,
  content: ReceivedContent,
  names: readonly FileNames[],
): Promise<{ readonly files: readonly SymbolFileRow[]; readonly areKnown: boolean }> {
  const { orgId } = actor
  const now = app.clock.now()
  // The same file twice at once, and two files for the last bytes: one sees the other.
  await lockFilesOfOrg(tx, orgId)
  const same = await selectSame(tx, projectId, content.sha256)
  const known = names.map((one) => same.find((row) => isSame(row, one)))
  const ids = known.map((row) => row?.id ?? newId())
  const failed = known.flatMap((row) => (row?.state === 'failed' ? row.id : []))
  const fresh = names.flatMap((one, n) => (known[n] === undefined ? [{ ...one, id: ids[n] ?? '' }] : []))
  await waitForIndex(tx, failed)
  if (fresh.length > 0) {
    await insertFiles(
      tx,
      fresh.map((one) => ({
        id: one.id,
        org_id: orgId,
        project_id: projectId,
        kind: one.kind,
        name: one.name,
        debug_id: one.debugId,
        code_id: one.codeId,
        cpu_name: one.cpuName,
        release: one.release,
        dist: one.dist,
        url: one.url,
        object: one.object,
        features: [...one.features],
        created_by: requireActingMember(actor).userId,
        created_at: now,
        state: 'indexing',
      })),
      content,
    )
    if ((await bytesOfOrg(tx, orgId)) > MAX_ORG_BYTES)
      throw conflict('The symbol files of the organisation take 20 GiB, the maximum. Delete those of old releases.')
    await recordFacts(
      tx,
      factContext(app, actor, now),
      fresh.map(({ kind, name }) => ({
        kind: isCode(kind) ? 'source_map.uploaded' : 'dsym.uploaded',
        orgId,
        projectId,
        data: { name },
      })),
    )
  }
  if (fresh.length + failed.length > 0) await addIndexJob(tx, orgId)
  return { files: await selectFilesById(tx, ids), areKnown: fresh.length === 0 }
}

const isSame = (row: SymbolFileRow, one: FileNames): boolean =>
  row.kind === one.kind &&
  row.debug_id === one.debugId &&
  row.release === one.release &&
  row.dist === one.dist &&
  row.url === one.url
