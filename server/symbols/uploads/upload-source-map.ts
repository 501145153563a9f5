import { statSync } from 'node:fs'
import { z } from 'zod'
import { isReleaseName } from '#shared/release-name.ts'
import { cleanFilename } from '../../events/attachments/attachment.ts'
import { actorForLog, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Upload } from '../../platform/context/handlers.ts'
import { invalid, tooLarge } from '../../platform/kernel/errors.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { describedUrl } from '../files/code-url.ts'
import type { SymbolFileRow } from '../files/symbol-files.queries.ts'
import { CODE_KINDS, MAX_BYTES } from '../files/symbol-kinds.api.ts'
import { debugIdInEdges, readEdges } from '../source-maps/file-edges.ts'
import { readForm } from './read-form.ts'
import { withScratch } from '../files/scratch.ts'
import { storeFiles, unnamedFile } from './store-files.ts'

const DIST = /^[^\s/\\]{1,64}$/u

const Fields = z.object({
  symbolication_type: z.enum(CODE_KINDS, { error: `symbolication_type must be ${CODE_KINDS.join(' or ')}.` }),
  release: z.string().trim().refine(isReleaseName, { error: 'release must be the name of a release.' }).nullable(),
  dist: z.string().trim().regex(DIST, { error: 'dist must have 1 to 64 characters without spaces.' }).nullable(),
  filename: z.string().trim().min(1).max(1_000, { error: 'filename must be at most 1,000 characters.' }).nullable(),
  debug_id: z.guid({ error: 'debug_id must be a UUID.' }).toLowerCase().nullable(),
})

const NAMES = ['symbolication_type', 'release', 'dist', 'filename', 'debug_id'] as const

/**
 * Stores a source map or mapping from a multipart form.
 * @throws AppError not_found (project), invalid (form, fields, file), too_large, conflict (no room)
 */
export async function uploadSourceMap(
  app: App,
  actor: OrgActor,
  projectId: string,
  upload: Upload,
): Promise<{ readonly file: SymbolFileRow; readonly isKnown: boolean }> {
  await requireProject(app, actor, projectId)
  return withScratch(app, async (folder) => {
    const form = await readForm(upload, folder)
    const [file] = form.files
    if (file === undefined || file.field !== 'file') throw invalid('file is missing: the source map or mapping.')
    const given = Object.fromEntries(NAMES.map((name) => [name, form.fields.get(name) ?? null]))
    const parsed = Fields.safeParse(given)
    if (!parsed.success) throw invalid(parsed.error.issues[0]?.message ?? 'The form cannot be read.')
    const { symbolication_type: kind, release, dist, filename, debug_id: debugId } = parsed.data
    if (statSync(file.path).size > MAX_BYTES[kind])
      throw tooLarge(`A file of this type may have at most ${MAX_BYTES[kind] / 1024 ** 2} MiB.`)
    const names = {
      ...unnamedFile(kind, cleanFilename(filename ?? file.filename)),
      release,
      dist,
      url: kind === 'js_source_map' ? describedUrl(filename ?? file.filename) : null,
      debugId: debugId ?? (kind === 'js_source_map' ? debugIdInEdges(await readEdges(file.path)) : null),
    }
    if (names.debugId === null && release === null)
      throw invalid(
        kind === 'proguard'
          ? 'Send release, or debug_id with the UUID that the build put into the app.'
          : 'Send release: this source map has no debug id.',
      )
    if (kind === 'js_source_map' && names.debugId === null && names.url === null)
      throw invalid('Send filename: the address of the generated code, such as ~/static/app.js.')
    const { files, areKnown } = await storeFiles(app, actor, projectId, file.path, [names])
    const [stored] = files
    if (stored === undefined) throw new Error('an upload stored nothing')
    app.log.info({ ...actorForLog(actor), project_id: projectId, file_id: stored.id, type: kind }, 'symbols.uploaded')
    return { file: stored, isKnown: areKnown }
  })
}
