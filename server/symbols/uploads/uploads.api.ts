import { z } from 'zod'
import { isReleaseName } from '#shared/release-name.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageQuery, pageSchema, Timestamp } from '../../platform/kernel/page.api.ts'
import { CODE_KINDS, MAX_BYTES, NATIVE_KINDS } from '../files/symbol-kinds.api.ts'

const shared = {
  id: Id,
  name: z.string().describe('Name of the file.'),
  debug_id: z.guid().nullable().describe('What names the file in events; null when it has none.'),
  size_bytes: z.number().int(),
  state: z.enum(['indexing', 'ready', 'failed']).describe('Events are read with it when it is ready, also old ones.'),
  problem: z.string().nullable().describe('Why it failed; null unless it did.'),
  uploaded_by: z.object({ id: Id, name: z.string() }).nullable().describe('Null when the account was deleted.'),
  created_at: Timestamp,
}

export const SourceMap = z.object({
  ...shared,
  symbolication_type: z.enum(CODE_KINDS),
  filename: z
    .string()
    .nullable()
    .describe(
      'Address of the code it describes, such as `~/static/app.js`; null when it is found by its debug id only.',
    ),
  release: z.string().nullable(),
  dist: z.string().nullable(),
})
z.globalRegistry.add(SourceMap, { id: 'SourceMap' })
export type SourceMap = z.infer<typeof SourceMap>

export const Dsym = z.object({
  ...shared,
  kind: z.enum(NATIVE_KINDS),
  uuid: z.guid().nullable().describe('LC_UUID of a Mach-O file; the debug id of others. Null when it has none.'),
  code_id: z.string().nullable(),
  cpu_name: z.string().nullable(),
  features: z.array(z.string()).describe('symtab, debug, unwind, sources'),
})
z.globalRegistry.add(Dsym, { id: 'DebugFile' })
export type Dsym = z.infer<typeof Dsym>

const projectParams = z.object({ projectId: Id })
const listQuery = { ...pageQuery(), debug_id: z.guid({ error: 'debug_id must be a UUID.' }).toLowerCase().optional() }

const ReleaseFilter = z
  .string()
  .refine(isReleaseName, { error: 'release must be the name of a release.' })
  .optional()
  .describe('Files of one release.')

export const uploadRoutes = routes({
  uploadSourceMap: {
    method: 'POST',
    path: '/api/projects/:projectId/source-maps',
    tag: 'Symbols',
    summary: 'Upload a source map or a mapping of ProGuard or R8',
    description:
      'A multipart form with `file` (a source map of at most 64 MiB, a mapping of at most 128 MiB), `symbolication_type` (`js_source_map` or `proguard`), and `release`, `dist` and `filename`, which is the address of the generated code, such as `~/static/app.js` or `https://example.com/static/app.js`. A source map with a debug id needs no release. `debug_id` is the UUID of a mapping that the build put into the app. The file is indexed within seconds. 200 when the project has the file already.',
    permission: 'uploads.write',
    status: 201,
    otherStatus: 200,
    params: projectParams,
    upload: { maxBytes: MAX_BYTES.proguard + 1024 * 1024 },
    response: SourceMap,
    refusals: [404, 409],
  },
  listSourceMaps: {
    method: 'GET',
    path: '/api/projects/:projectId/source-maps',
    tag: 'Symbols',
    summary: 'Source maps and mappings of a project, newest first',
    permission: 'uploads.read',
    params: projectParams,
    query: z.strictObject({ ...listQuery, release: ReleaseFilter }),
    response: pageSchema(SourceMap),
    refusals: [404],
  },
  deleteSourceMap: {
    method: 'DELETE',
    path: '/api/projects/:projectId/source-maps/:mapId',
    tag: 'Symbols',
    summary: 'Delete a source map or mapping',
    description:
      'Members delete what they uploaded, admins everything. Events are no longer readable by it, old ones too.',
    permission: 'uploads.write',
    status: 204,
    params: z.object({ projectId: Id, mapId: Id }),
    refusals: [404],
  },
  uploadDsym: {
    method: 'POST',
    path: '/api/projects/:projectId/dsyms',
    tag: 'Symbols',
    summary: 'Upload debug files of native code',
    description:
      'A multipart form with `file`: a Mach-O file, also one with several architectures, a zip of a `.dSYM`, an ELF file, or a Breakpad symbol file, of at most 512 MiB; or an obfuscation map of Dart, with the debug id of the app’s debug file as `debug_id`. UUIDs are read from the file. The response names every object in it. 200 when the project has all of them already.',
    permission: 'uploads.write',
    status: 201,
    otherStatus: 200,
    params: projectParams,
    upload: { maxBytes: MAX_BYTES.macho + 1024 * 1024 },
    response: z.object({ files: z.array(Dsym) }),
    refusals: [404, 409],
  },
  listDsyms: {
    method: 'GET',
    path: '/api/projects/:projectId/dsyms',
    tag: 'Symbols',
    summary: 'Debug files of a project, newest first',
    permission: 'uploads.read',
    params: projectParams,
    query: z.strictObject(listQuery),
    response: pageSchema(Dsym),
    refusals: [404],
  },
  deleteDsym: {
    method: 'DELETE',
    path: '/api/projects/:projectId/dsyms/:fileId',
    tag: 'Symbols',
    summary: 'Delete a debug file',
    description: 'Members delete what they uploaded, admins everything.',
    permission: 'uploads.write',
    status: 204,
    params: z.object({ projectId: Id, fileId: Id }),
    refusals: [404],
  },
})
