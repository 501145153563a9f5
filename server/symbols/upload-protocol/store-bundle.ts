import { open, readFile, rm, stat } from 'node:fs/promises'
import { createReadStream, createWriteStream } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { cleanFilename } from '../../events/attachments/attachment.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { AppError, invalid } from '../../platform/kernel/errors.ts'
import { codeUrl, describedUrl } from '../files/code-url.ts'
import { MAX_BYTES } from '../files/symbol-kinds.api.ts'
import { storeFiles, unnamedFile } from '../uploads/store-files.ts'
import { MAX_ENTRIES, type Unpacked, unzip } from '../uploads/unzip.ts'

/**
 * Bundles of source maps, as upload tools make them: eight bytes (the letters SYSB and a version), then a zip archive whose
 * `manifest.json` says what its files are. Names of headers are compared without their case: tools differ.
 */

const HEAD_BYTES = 8
/** A kilobyte for each entry that an archive may have. */
const MAX_MANIFEST_BYTES = 2 * 1024 * 1024

const ManifestFile = z.object({
  type: z.string().optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).default({}),
})
/** Counted before it is looked at, which takes long for very many. */
const FewFiles = z.custom<object>(
  (files) => typeof files === 'object' && files !== null && Object.keys(files).length <= MAX_ENTRIES,
)
const Manifest = z.object({
  debug_id: z.string().nullish(),
  files: FewFiles.pipe(z.record(z.string(), ManifestFile)).default({}),
})
type ManifestFile = z.output<typeof ManifestFile>

const Uuid = z.guid().toLowerCase()

/** The release that a tool names beside the bundle. */
type BundleNames = { readonly release: string | null; readonly dist: string | null }

/**
 * Stores the source maps of a bundle. Generated code and sources are not needed: maps have the sources.
 * @returns ids of the files
 * @throws AppError invalid (no bundle, no source map), too_large, conflict (no room)
 */
export async function storeBundle(
  app: App,
  actor: OrgActor,
  projectId: string,
  path: string,
  folder: string,
  { release, dist }: BundleNames,
): Promise<string[]> {
  const unpacked = new Map((await unpack(path, folder)).map((entry) => [entry.name, entry.path] as const))
  const files = await manifestOf(unpacked.get('manifest.json'))
  const code = codeByMap(files)
  const ids: string[] = []
  for (const [name, file] of Object.entries(files)) {
    const entry = unpacked.get(name)
    if (file.type !== 'source_map' || entry === undefined || (await stat(entry)).size > MAX_BYTES.js_source_map)
      continue
    const url = file.url ?? name
    const debugId = Uuid.safeParse(headerOf(file, 'debug-id')).data ?? null
    if (debugId === null && release === null) continue
    const described = code.get(codeUrl(url) ?? '')
    const { files: stored } = await storeFiles(app, actor, projectId, entry, [
      {
        ...unnamedFile('js_source_map', cleanFilename(basename(url))),
        debugId,
        release,
        dist,
        url: described ?? describedUrl(url),
      },
    ])
    ids.push(...stored.map(({ id }) => id))
    await rm(entry, { force: true })
  }
  if (ids.length === 0) throw invalid('The bundle has no source map with a debug id, and the upload names no release.')
  return ids
}

/** The places in the archive count from the head of the bundle, or from behind it: tools differ. */
async function unpack(path: string, folder: string): Promise<Unpacked[]> {
  await requireHead(path)
  try {
    return await unzip(path, folder, () => true)
  } catch (error) {
    if (error instanceof AppError && error.code !== 'invalid') throw error
    return unzip(await withoutHead(path, folder), folder, () => true)
  }
}

async function requireHead(path: string): Promise<void> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    if (buffer.toString('latin1', 0, 4) !== 'SYSB') throw invalid('The file is no bundle of source maps.')
  } finally {
    await file.close()
  }
}

async function withoutHead(path: string, folder: string): Promise<string> {
  const archive = join(folder, 'bundle.zip')
  await pipeline(createReadStream(path, { start: HEAD_BYTES }), createWriteStream(archive, { mode: 0o600 }))
  return archive
}

async function manifestOf(path: string | undefined): Promise<Readonly<Record<string, ManifestFile>>> {
  if (path === undefined || (await stat(path)).size > MAX_MANIFEST_BYTES)
    throw invalid('The bundle has no manifest.json that can be read.')
  try {
    return Manifest.parse(JSON.parse(await readFile(path, 'utf8'))).files
  } catch {
    throw invalid('The manifest.json of the bundle cannot be read.')
  }
}

const headerOf = ({ headers }: ManifestFile, name: string): string | undefined =>
  Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]

/** Addresses of generated code by the addresses of their maps: code names its map, relative to itself. */
function codeByMap(files: Readonly<Record<string, ManifestFile>>): Map<string, string> {
  const code = new Map<string, string>()
  for (const [name, file] of Object.entries(files)) {
    const map = headerOf(file, 'sourcemap')
    const url = codeUrl(file.url ?? name)
    if (file.type !== 'minified_source' || map === undefined || url === null) continue
    const isWhole = /^(?:~|[a-z][a-z0-9+.-]*:)?\//iu.test(map)
    const resolved = codeUrl(isWhole ? map : `${url.slice(0, url.lastIndexOf('/') + 1)}${map}`)
    if (resolved !== null) code.set(resolved, url)
  }
  return code
}
