import { rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { cleanFilename } from '../../events/attachments/attachment.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import { type App, perApp } from '../../platform/context/app.ts'
import type { Upload } from '../../platform/context/handlers.ts'
import { AppError, invalid, unavailable, tooLarge } from '../../platform/kernel/errors.ts'
import { withScratch } from '../files/scratch.ts'
import { selectFilesById, type SymbolFileRow } from '../files/symbol-files.queries.ts'
import { readForm } from '../uploads/read-form.ts'
import { type FileNames, storeFiles, unnamedFile } from '../uploads/store-files.ts'
import { unzip } from '../uploads/unzip.ts'
import { isDartMap, listNamedObjects, nameDartMap } from '../uploads/upload-dsym.ts'
import { findAssembled, insertAssembled, findChunks, type StoredChunk } from './chunks.queries.ts'
import { storeBundle } from './store-bundle.ts'
import { toolProject, toolProjects } from './tool-names.ts'
import type { ToolProject } from './tools.queries.ts'
import type { Dif, uploadProtocolRoutes } from './upload-protocol.api.ts'
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { PIECE_BYTES } from '../../platform/blobs/pack-content.ts'
import { readPiece } from '../../platform/blobs/blobs.queries.ts'
import { MAX_BYTES } from '../files/symbol-kinds.api.ts'

/** Files of upload tools: put together of chunks, then stored like uploads of the product API. */

type State = z.input<(typeof uploadProtocolRoutes)['toolAssembleBundle']['response']>

const OK: State = { state: 'ok', missingChunks: [], detail: null }
const missing = (chunks: readonly string[]): State => ({
  state: 'not_found',
  missingChunks: [...chunks],
  detail: null,
})
const failed = (error: unknown): State => {
  if (!(error instanceof AppError) || error.code === 'unavailable') throw error
  return { state: 'error', missingChunks: [], detail: error.message }
}

type BundleInput = z.output<(typeof uploadProtocolRoutes)['toolAssembleBundle']['body']>

/** @throws AppError not_found (organisation, project), unavailable (too many wait) */
export async function assembleBundle(app: App, actor: OrgActor, org: string, input: BundleInput): Promise<State> {
  const projects = await toolProjects(app, actor, org, input.projects)
  return inTurn(app, actor.orgId, () => assembleBundleIn(app, actor, projects, input))
}

async function assembleBundleIn(
  app: App,
  actor: OrgActor,
  projects: readonly ToolProject[],
  input: BundleInput,
): Promise<State> {
  const lacking = await missingChunks(app, actor.orgId, input)
  const done = await Promise.all(projects.map(({ id }) => findAssembled(app.db, id, [input.checksum])))
  if (done.every((found) => found.has(input.checksum))) return OK
  if (lacking.length > 0 || input.chunks.length === 0) return missing(lacking)
  try {
    await withScratch(app, async (folder) => {
      const path = await joinChunks(app, actor.orgId, input, folder)
      for (const { id } of projects) {
        const names = { release: input.version ?? null, dist: input.dist ?? null }
        const ids = await storeBundle(app, actor, id, path, folder, names)
        await insertAssembled(app.db, id, input.checksum, ids, app.clock.now())
      }
    })
  } catch (error) {
    return failed(error)
  }
  return OK
}

type DifsInput = z.output<(typeof uploadProtocolRoutes)['toolAssembleDifs']['body']>

/** @throws AppError not_found (organisation, project), unavailable (too many wait) */
export async function assembleDifs(
  app: App,
  actor: OrgActor,
  at: { readonly org: string; readonly project: string },
  input: DifsInput,
): Promise<Record<string, State & { dif?: Dif }>> {
  const { id: projectId } = await toolProject(app, actor, at)
  return inTurn(app, actor.orgId, () => assembleDifsIn(app, actor, projectId, input))
}

async function assembleDifsIn(
  app: App,
  actor: OrgActor,
  projectId: string,
  input: DifsInput,
): Promise<Record<string, State & { dif?: Dif }>> {
  const done = await findAssembled(app.db, projectId, Object.keys(input))
  const states: Record<string, State & { dif?: Dif }> = {}
  for (const [checksum, { name, debug_id: debugId, chunks }] of Object.entries(input)) {
    const known = done.get(checksum)
    if (known !== undefined) states[checksum] = okDif(await selectFilesById(app.db, known), checksum)
    else states[checksum] = await assembleDif(app, actor, projectId, { checksum, chunks }, { name, debugId })
  }
  return states
}

async function assembleDif(
  app: App,
  actor: OrgActor,
  projectId: string,
  file: ChunkedFile,
  given: { readonly name: string; readonly debugId: string | null | undefined },
): Promise<State & { dif?: Dif }> {
  const lacking = await missingChunks(app, actor.orgId, file)
  if (lacking.length > 0 || file.chunks.length === 0) return missing(lacking)
  try {
    const files = await withScratch(app, async (folder) =>
      storeDif(app, actor, projectId, await joinChunks(app, actor.orgId, file, folder), given),
    )
    const ids = files.map(({ id }) => id)
    await insertAssembled(app.db, projectId, file.checksum, ids, app.clock.now())
    return okDif(files, file.checksum)
  } catch (error) {
    return failed(error)
  }
}

const Uuid = z.guid().toLowerCase()

/** Stores a mapping, which its name tells, or the objects of a debug file. @throws AppError invalid, conflict */
async function storeDif(
  app: App,
  actor: OrgActor,
  projectId: string,
  path: string,
  { name, debugId }: { readonly name: string; readonly debugId?: string | null | undefined },
): Promise<readonly SymbolFileRow[]> {
  const shown = cleanFilename(basename(name))
  const mapping = /(?:^|\/)proguard\/([^/]*)\.txt$/iu.exec(name)?.[1]
  const names =
    mapping !== undefined
      ? nameMapping(mapping, shown)
      : isDartMap(path)
        ? nameDartMap(path, shown, debugId)
        : await listNamedObjects(path, shown)
  if (typeof names === 'string') throw invalid(names)
  return (await storeFiles(app, actor, projectId, path, names)).files
}

/** @returns a mapping under its UUID; a sentence when it has none */
function nameMapping(given: string, name: string): FileNames[] | string {
  const debugId = Uuid.safeParse(given)
  return debugId.success
    ? [{ ...unnamedFile('proguard', name), debugId: debugId.data }]
    : 'The name of a mapping must be proguard/<UUID>.txt.'
}

function okDif(files: readonly SymbolFileRow[], checksum: string): State & { dif?: Dif } {
  const [first] = files
  return first === undefined ? OK : { ...OK, dif: viewDif(first, checksum) }
}

const viewDif = (file: SymbolFileRow, sha1: string): Dif => ({
  id: file.id,
  uuid: file.debug_id ?? '',
  debugId: file.debug_id ?? '',
  codeId: file.code_id,
  cpuName: file.cpu_name ?? 'any',
  objectName: file.name,
  symbolType: file.kind,
  headers: {},
  size: file.size_bytes,
  sha1,
  dateCreated: file.created_at.toISOString(),
  data: {
    type: 'dbg',
    features: file.kind === 'proguard' || file.kind === 'dart_symbol_map' ? ['mapping'] : file.features,
  },
})

/** Stores the mappings and debug files of a zip, as old tools send them. @throws AppError not_found, invalid, too_large, conflict */
export async function uploadDsyms(
  app: App,
  actor: OrgActor,
  at: { readonly org: string; readonly project: string },
  upload: Upload,
): Promise<Dif[]> {
  const { id: projectId } = await toolProject(app, actor, at)
  return withScratch(app, async (folder) => {
    const [file] = (await readForm(upload, folder)).files
    if (file === undefined) throw invalid('file is missing: a zip of debug files and mappings.')
    const archive = join(folder, 'archive.zip')
    await rename(file.path, archive)
    const difs: Dif[] = []
    let refusal = invalid('The archive is empty.')
    for (const { name, path } of await unzip(archive, folder, () => true))
      try {
        difs.push(...(await storeDif(app, actor, projectId, path, { name })).map((stored) => viewDif(stored, '')))
      } catch (error) {
        // Other files may be beside the debug files.
        if (!(error instanceof AppError) || error.code !== 'invalid') throw error
        refusal = error
      }
    if (difs.length === 0) throw refusal
    return difs
  })
}

/** Files on their way may take 2.5 GiB of the disk each, and are read and written several times. */
const MAX_WAITING = 20

type Queue = { last: Promise<unknown>; length: number }
const queuesOf = perApp(() => new Map<string, Queue>())

/**
 * Runs the works of an organisation one after the other.
 * @throws AppError unavailable when many wait
 */
async function inTurn<T>(app: App, orgId: string, work: () => Promise<T>): Promise<T> {
  const queues = queuesOf(app)
  const queue = queues.get(orgId) ?? { last: Promise.resolve(), length: 0 }
  if (queue.length > MAX_WAITING)
    throw unavailable('Too many files are put together at once. Try again in a few seconds.', 5)
  queues.set(orgId, queue)
  queue.length++
  const own = queue.last.then(work)
  queue.last = own.catch(() => {})
  try {
    return await own
  } finally {
    if (--queue.length === 0) queues.delete(orgId)
  }
}

/** A file in pieces, as a tool names it. */
type ChunkedFile = {
  /** SHA-1 of the whole, hexadecimal. */
  readonly checksum: string
  readonly chunks: readonly string[]
}

/** Chunks that the organisation does not have, in order and each once. */
async function missingChunks(app: App, orgId: string, { chunks }: ChunkedFile): Promise<string[]> {
  const found = await findChunks(app.db, orgId, [...new Set(chunks)])
  return [...new Set(chunks)].filter((digest) => !found.has(digest))
}

/**
 * Writes a file of its chunks to a folder.
 * @returns its path
 * @throws AppError invalid when a chunk is missing or the whole has another SHA-1, too_large
 */
async function joinChunks(app: App, orgId: string, file: ChunkedFile, folder: string): Promise<string> {
  const found = await findChunks(app.db, orgId, [...new Set(file.chunks)])
  const inOrder = file.chunks.map((digest) => {
    const chunk = found.get(digest)
    if (chunk === undefined) throw invalid(`The chunk ${digest} is missing. Send it again.`)
    return chunk
  })
  if (inOrder.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MAX_BYTES.macho)
    throw tooLarge(`A file may have at most ${MAX_BYTES.macho / 1024 ** 2} MiB.`)
  const path = join(folder, 'joined')
  const sha1 = createHash('sha1')
  await pipeline(
    Readable.from(bytesOf(app, inOrder, (bytes) => sha1.update(bytes))),
    createWriteStream(path, { mode: 0o600 }),
  )
  if (sha1.digest('hex') !== file.checksum)
    throw invalid('The file that was put together of its chunks has another SHA-1. Send it again.')
  return path
}

async function* bytesOf(
  app: App,
  chunks: readonly StoredChunk[],
  onBytes: (bytes: Buffer) => void,
): AsyncGenerator<Buffer> {
  for (const { blobId, sizeBytes, sha1 } of chunks)
    for (let seq = 0; seq * PIECE_BYTES < sizeBytes; seq++) {
      const piece = await readPiece(app.db, blobId, seq)
      if (piece === null) throw invalid(`The chunk ${sha1} is missing. Send it again.`)
      onBytes(piece)
      yield piece
    }
}
