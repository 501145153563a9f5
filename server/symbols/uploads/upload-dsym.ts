import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { cleanFilename } from '../../events/attachments/attachment.ts'
import { actorForLog, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Upload } from '../../platform/context/handlers.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { withScratch } from '../files/scratch.ts'
import type { SymbolFileRow } from '../files/symbol-files.queries.ts'
import { MAX_BYTES } from '../files/symbol-kinds.api.ts'
import { looksLikeDartMap } from '../dart/dart-map.ts'
import { SymbolFileError } from '../index-file/built-index.ts'
import { withFile } from '../index-file/with-file.ts'
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
    const form = await readForm(upload, folder)
    const [file] = form.files
    if (file === undefined || file.field !== 'file') throw invalid('file is missing: the debug file, or a zip of it.')
    const isArchive = withFile(file.path, (opened) => opened.read(0, 4).equals(ZIP))
    const candidates = isArchive
      ? await unzip(file.path, folder, (name) => !name.startsWith('__MACOSX/') && !/\.(?:plist|yml|json)$/u.test(name))
      : [{ name: file.filename, path: file.path }]
    const stored: SymbolFileRow[] = []
    let areKnown = true
    let reason = 'The archive is empty.'
    for (const { name, path } of candidates) {
      const shown = cleanFilename(basename(name))
      const objects = isDartMap(path)
        ? nameDartMap(path, shown, form.fields.get('debug_id'))
        : await listNamedObjects(path, shown)
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

/** Whether a file is an obfuscation map of Dart, and no debug file. */
export const isDartMap = (path: string): boolean => withFile(path, (file) => looksLikeDartMap(file.read(0, 64)))

/** @returns the map under the debug id of the app's image; a sentence when that is missing */
export function nameDartMap(path: string, name: string, given: string | null | undefined): FileNames[] | string {
  const debugId = z.guid().toLowerCase().safeParse(given)
  if (!debugId.success) return 'Send debug_id with an obfuscation map of Dart: the debug id of the app’s debug file.'
  if (statSync(path).size > MAX_BYTES.dart_symbol_map) return 'An obfuscation map of Dart may have at most 64 MiB.'
  return [{ ...unnamedFile('dart_symbol_map', name), debugId: debugId.data }]
}

/** @returns the objects of a file; a sentence when it has none */
export async function listNamedObjects(path: string, name: string): Promise<FileNames[] | string> {
  // An archive has thousands of files, each of which takes some milliseconds at most.
  await setImmediate()
  try {
    return withFile(path, (file) =>
      listObjects(file).objects.map((object, n) => ({
        ...unnamedFile(object.kind, name),
        // Without the age of Breakpad, which events do not always have.
        debugId: object.debugId.slice(0, UUID_LENGTH),
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

const UUID_LENGTH = 36
const FEATURES = ['symtab', 'debug', 'unwind', 'sources'] as const
