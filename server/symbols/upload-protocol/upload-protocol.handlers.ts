import type { Handlers } from '../../platform/context/handlers.ts'
import { SCOPES } from '#shared/permissions.ts'
import { MAX_BYTES } from '../files/symbol-kinds.api.ts'
import { announceSymbols, renewTextsSoon } from '../files/announce-symbols.ts'
import { nameMapping } from '../files/symbol-files.queries.ts'
import { assembleBundle, assembleDifs, uploadDsyms } from './assemble.ts'
import { findAssembled } from './chunks.queries.ts'
import { receiveChunks } from './receive-chunks.ts'
import { toolOrg, toolProject, viewToolProject, viewToolUser } from './tool-names.ts'
import {
  createToolDeploy,
  listToolDeploys,
  readToolProjectRelease,
  readToolRelease,
  saveToolRelease,
  updateToolRelease,
} from './tool-releases.ts'
import { selectProjects } from './tools.queries.ts'
import { CHUNKS, type uploadProtocolRoutes } from './upload-protocol.api.ts'

/** Kinds of files that tools may send; they leave out what is not named here. */
const ACCEPTED = [
  'debug_files',
  'release_files',
  'artifact_bundles',
  'artifact_bundles_v2',
  'proguard',
  'dartsymbolmap',
]

/** Names that tools warn about when a token lacks them. */
const TOOL_SCOPES = ['org:read', 'project:read', 'project:releases', 'event:write']

export const uploadProtocolHandlers: Handlers<typeof uploadProtocolRoutes> = {
  toolReadRoot: async (app, actor) => ({
    version: '0',
    auth: { scopes: [...(actor.kind === 'api_key' ? actor.scopes : SCOPES), ...TOOL_SCOPES] },
    user: await viewToolUser(app, actor),
  }),
  toolReadUser: viewToolUser,
  toolListOrgs: async (app, actor) => [await toolOrg(app, actor)],
  toolReadOrg: (app, actor, { params }) => toolOrg(app, actor, params.org),
  toolListProjects: async (app, actor, { params }) => {
    const org = await toolOrg(app, actor, params.org)
    return (await selectProjects(app.db, actor.orgId)).map((project) => viewToolProject(org, project))
  },
  toolReadProject: async (app, actor, { params }) =>
    viewToolProject(await toolOrg(app, actor, params.org), await toolProject(app, actor, params)),
  toolListRepos: async (app, actor, { params }) => {
    await toolOrg(app, actor, params.org)
    return []
  },
  toolCreateRelease: (app, actor, { params, body }) => saveToolRelease(app, actor, params.org, body),
  toolCreateProjectRelease: (app, actor, { params, body }) =>
    saveToolRelease(app, actor, params.org, { ...body, projects: [params.project] }),
  toolReadRelease: (app, actor, { params }) => readToolRelease(app, actor, params.org, params.version),
  toolUpdateRelease: (app, actor, { params, body }) => updateToolRelease(app, actor, params, body),
  toolReadProjectRelease: (app, actor, { params }) => readToolProjectRelease(app, actor, params),
  toolUpdateProjectRelease: (app, actor, { params: { org, project, version }, body }) =>
    saveToolRelease(app, actor, org, { ...body, version, projects: [project] }),
  toolPreviousRelease: async (app, actor, { params }) => {
    await readToolRelease(app, actor, params.org, params.version)
    return {}
  },
  toolListDeploys: (app, actor, { params }) => listToolDeploys(app, actor, params),
  toolCreateDeploy: (app, actor, { params, body }) => createToolDeploy(app, actor, params, body),
  toolReadChunkUpload: async (app, actor, { params }) => {
    const org = await toolOrg(app, actor, params.org)
    return {
      url: `${app.config.publicUrl}/api/0/organizations/${org.slug}/chunk-upload/`,
      chunkSize: CHUNKS.bytes,
      chunksPerRequest: CHUNKS.perRequest,
      maxFileSize: MAX_BYTES.macho,
      maxRequestSize: CHUNKS.requestBytes,
      concurrency: 4,
      hashAlgorithm: 'sha1',
      compression: ['gzip'],
      accept: ACCEPTED,
    }
  },
  toolUploadChunks: async (app, actor, call) => {
    await toolOrg(app, actor, call.params.org)
    await receiveChunks(app, actor, call.upload())
    return {}
  },
  toolAssembleBundle: (app, actor, { params, body }) => assembleBundle(app, actor, params.org, body),
  toolAssembleDifs: (app, actor, { params, body }) => assembleDifs(app, actor, params, body),
  toolUploadDsyms: (app, actor, call) => uploadDsyms(app, actor, call.params, call.upload()),
  toolFindUnknown: async (app, actor, { params, query }) => {
    const { id } = await toolProject(app, actor, params)
    const known = await findAssembled(app.db, id, query.checksums)
    return { missing: query.checksums.filter((checksum) => !known.has(checksum)) }
  },
  toolAssociate: async (app, actor, { params }) => {
    await toolProject(app, actor, params)
    return { associatedDsymFiles: [] }
  },
  toolMappingRelease: async (app, actor, { params, body }) => {
    const { id } = await toolProject(app, actor, params)
    await app.tx(async (tx) => {
      await nameMapping(tx, id, body.proguard_uuid, body.release_name)
      await announceSymbols(tx, actor.orgId, [id])
      await renewTextsSoon(tx, [id])
    })
    return {}
  },
  toolReprocess: async (app, actor, { params }) => {
    await toolProject(app, actor, params)
    return {}
  },
}
