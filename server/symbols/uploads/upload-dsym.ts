import { basename } from 'node:path'
import { cleanFilename } from '../../events/attachments/attachment.ts'
import { actorForLog, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Upload } from '../../platform/context/handlers.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { requireProject } from '../../projects/registry/require-project.ts'
import { withScratch } from '../files/scratch.ts'
import type { SymbolFileRow } from '../files/symbol-files.queries.ts'
import { SymbolFileError } from '../index-file/built-index.ts'
import { withFile } from '../indexing/build-index.ts'
import { listObjects } from '../native/list-objects.ts'
import { readForm } from './read-form.ts'
import { type FileNames, storeFiles, unnamedFile } from './store-files.ts'
import { unzip } from './unzip.ts'

/**
 * Stores the debug files of native code in a multipart form: one file, or those of a zip archive.
 * @returns every object of the files, and whether the project had all of them
 * @throws AppError not_found (project), invalid (form, no debug file), too_large, conflict (no room)
 */
export async function uploadDsym(
  app: App,
  actor: OrgActor,
  projectId: string,
  upload: Upload,
): Promise<{ readonly files: readonly SymbolFileRow[]; readonly areKnown: boolean }> {
  await requireProject(app, actor, projectId)
  return withScratch(app, async (folder) => {
    const [file] = (await readForm(upload, folder)).files
    if (file === undefined || file.field !== 'file') throw invalid('file is missing: the debug file, or a zip of it.')
    const isArchive = withFile(file.path, (opened) => opened.read(0, 4).equals(ZIP))
    const candidates = isArchive
      ? await unzip(file.path, folder, (name) => !name.startsWith('__MACOSX/') && !/\.(?:plist|yml|json)$/u.test(name))
      : [{ name: file.filename, path: file.path }]
    const stored: SymbolFileRow[] = []
    let areKnown = true
    let reason = 'The archive is empty.'
    for (const { name, path } of candidates) {
      const objects = listNamedObjects(path, cleanFilename(basename(name)))
      if (typeof objects === 'string') {
        reason = objects
        continue
      }
      const result = await storeFiles(app, actor, projectId, path, objects)
      stored.push(...result.files)
      areKnown &&= result.areKnown
    }
    if (stored.length === 0) throw invalid(isArchive ? `The archive has no debug file. ${reason}` : reason)
    app.log.info({ ...actorForLog(actor), project_id: projectId, files: stored.length }, 'symbols.uploaded')
    return { files: stored, areKnown }
  })
}

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1')

/** @returns the objects of a file; a sentence when it has none */
export function listNamedObjects(path: string, name: string): FileNames[] | string {
  try {
    return withFile(path, (file) =>
      listObjects(file).objects.map((object, n) => ({
        ...unnamedFile(object.kind, name),
        debugId: object.debugId,
        codeId: object.codeId,
        cpuName: object.cpuName,
        object: n,
        features: FEATURES.filter((feature) => object.features[feature]),
      })),
    )
  } catch (error) {
    if (error instanceof SymbolFileError) return error.message
    throw error
  }
}

const FEATURES = ['symtab', 'debug', 'unwind', 'sources'] as const
