import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { CommitInput, DeployEnvironment, MAX_COMMITS, releaseName } from '../../projects/releases/releases.api.ts'

/**
 * The endpoints that upload tools of the Sentry family call: `sentry-cli` 2 and 3, the TypeScript command line, plug-ins of
 * bundlers, Gradle and Fastlane (docs/protocol.md, upload API). Their paths end with a slash and name organisations and
 * projects by slug; `:org` and `:project` also take ids.
 */

const MIB = 1024 * 1024
/** The sizes that `GET …/chunk-upload/` asks upload tools to keep to. */
export const CHUNKS = { bytes: 8 * MIB, perRequest: 64, requestBytes: 32 * MIB } as const

/** The tag of their endpoints. */
export const UPLOAD_TOOLS = 'Upload tools'
const Slug = z.string().min(1).max(200)
const orgParams = z.object({ org: Slug })
const projectParams = z.object({ org: Slug, project: Slug })
const releaseParams = z.object({ org: Slug, version: z.string().min(1).max(600) })
const projectReleaseParams = releaseParams.extend({ project: Slug })

const User = z.object({ id: z.string(), email: z.string(), name: z.string(), username: z.string() })
z.globalRegistry.add(User, { id: 'ToolUser' })
const Org = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  dateCreated: z.string(),
  isEarlyAdopter: z.boolean(),
  require2FA: z.boolean(),
  requireEmailVerification: z.boolean(),
  features: z.array(z.string()),
  links: z.object({ organizationUrl: z.string(), regionUrl: z.string() }),
})
z.globalRegistry.add(Org, { id: 'ToolOrganisation' })
const Project = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  platform: z.string(),
  dateCreated: z.string(),
  isMember: z.boolean(),
  features: z.array(z.string()),
  team: z.null(),
  teams: z.array(z.string()),
  organization: Org,
})
z.globalRegistry.add(Project, { id: 'ToolProject' })
const Release = z.object({
  id: z.string(),
  version: z.string(),
  shortVersion: z.string(),
  status: z.enum(['open', 'archived']),
  url: z.string().nullable(),
  ref: z.string().nullable(),
  dateCreated: z.string(),
  dateReleased: z.string().nullable(),
  dateStarted: z.string().nullable(),
  newGroups: z.number().int(),
  commitCount: z.number().int(),
  deployCount: z.number().int(),
  authors: z.array(z.string()),
  data: z.object({}),
  owner: z.null(),
  lastCommit: z.null(),
  lastDeploy: z.null(),
  firstEvent: z.string().nullable(),
  lastEvent: z.string().nullable(),
  projects: z.array(z.object({ id: z.string(), slug: z.string(), name: z.string(), platform: z.string() })),
})
z.globalRegistry.add(Release, { id: 'ToolRelease' })
const Deploy = z.object({
  id: z.string(),
  environment: z.string(),
  name: z.string().nullable(),
  url: z.string().nullable(),
  dateStarted: z.string().nullable(),
  dateFinished: z.string().nullable(),
})
z.globalRegistry.add(Deploy, { id: 'ToolDeploy' })

const time = z.string().max(100).nullish()
const version = releaseName('version must be the name of a release.')
const projects = z.array(Slug).max(100)

const Digest = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f]{40}$/u, { error: 'A checksum must be a SHA-1 of 40 hexadecimal digits.' })
const chunks = z.array(Digest).max(1_000)
const State = z.enum(['not_found', 'created', 'assembling', 'ok', 'error'])
const Assembled = z.object({ state: State, missingChunks: z.array(z.string()), detail: z.string().nullable() })

export const Dif = z.object({
  id: z.string(),
  uuid: z.string(),
  debugId: z.string(),
  codeId: z.string().nullable(),
  cpuName: z.string(),
  objectName: z.string(),
  symbolType: z.string(),
  headers: z.object({}),
  size: z.number().int(),
  sha1: z.string(),
  dateCreated: z.string(),
  data: z.object({ type: z.string(), features: z.array(z.string()) }),
})
z.globalRegistry.add(Dif, { id: 'ToolDebugFile' })
export type Dif = z.infer<typeof Dif>

const ReleaseBody = z.object({
  version,
  projects: projects.default([]),
  dateStarted: time,
  dateReleased: time,
  url: z.string().max(2_000).nullish(),
  ref: z.string().max(250).nullish(),
  status: z.enum(['open', 'archived']).nullish(),
})
export type ReleaseBody = z.output<typeof ReleaseBody>

const listed = <T extends z.ZodType>(item: T) =>
  z.array(item).describe('In the form of upload tools, which has no total.')

const readOf = <Path extends `/api/0/${string}`, Params extends z.ZodObject, Response extends z.ZodType>(
  path: Path,
  summary: string,
  params: Params,
  response: Response,
) => ({ method: 'GET', path, tag: UPLOAD_TOOLS, summary, params, response, refusals: [404] }) as const

export const uploadProtocolRoutes = routes({
  toolReadRoot: {
    method: 'GET',
    path: '/api/0/',
    tag: UPLOAD_TOOLS,
    summary: 'Who an upload tool is',
    permission: 'me.read',
    response: z.object({
      version: z.literal('0'),
      auth: z.object({ scopes: z.array(z.string()) }),
      user: User,
    }),
  },
  toolReadUser: {
    method: 'GET',
    path: '/api/0/auth/',
    tag: UPLOAD_TOOLS,
    summary: 'The user of an upload tool',
    permission: 'me.read',
    response: User,
  },
  toolListOrgs: {
    method: 'GET',
    path: '/api/0/organizations/',
    tag: UPLOAD_TOOLS,
    summary: 'The organisation of an upload tool',
    permission: 'me.read',
    response: listed(Org),
  },
  toolReadOrg: { ...readOf('/api/0/organizations/:org/', 'An organisation', orgParams, Org), permission: 'me.read' },
  toolListProjects: {
    ...readOf('/api/0/organizations/:org/projects/', 'Projects of an organisation', orgParams, listed(Project)),
    permission: 'projects.read',
  },
  toolReadProject: {
    ...readOf('/api/0/projects/:org/:project/', 'One project', projectParams, Project),
    permission: 'projects.read',
  },
  toolListRepos: {
    ...readOf(
      '/api/0/organizations/:org/repos/',
      'Repositories of an organisation: none are connected',
      orgParams,
      listed(z.never()),
    ),
    permission: 'releases.read',
  },
  toolCreateRelease: {
    method: 'POST',
    path: '/api/0/organizations/:org/releases/',
    tag: UPLOAD_TOOLS,
    summary: 'Create a release in projects, or change one that exists',
    permission: 'releases.write',
    params: orgParams,
    body: ReleaseBody,
    response: Release,
    refusals: [404],
  },
  toolCreateProjectRelease: {
    method: 'POST',
    path: '/api/0/projects/:org/:project/releases/',
    tag: UPLOAD_TOOLS,
    summary: 'Create a release in one project, or change one that exists',
    permission: 'releases.write',
    params: projectParams,
    body: ReleaseBody,
    response: Release,
    refusals: [404],
  },
  toolReadRelease: {
    ...readOf('/api/0/organizations/:org/releases/:version/', 'One release', releaseParams, Release),
    permission: 'releases.read',
  },
  toolUpdateRelease: {
    method: 'PUT',
    path: '/api/0/organizations/:org/releases/:version/',
    tag: UPLOAD_TOOLS,
    summary: 'Finalise a release, or add commits to it',
    permission: 'releases.write',
    params: releaseParams,
    body: ReleaseBody.omit({ version: true }).extend({
      commits: z.array(CommitInput).max(MAX_COMMITS).nullish(),
      refs: z
        .array(z.object({ repository: z.string().max(200), commit: z.string().max(128) }))
        .max(100)
        .nullish(),
    }),
    response: Release,
    refusals: [404, 409],
  },
  toolReadProjectRelease: {
    ...readOf('/api/0/projects/:org/:project/releases/:version/', 'One release', projectReleaseParams, Release),
    permission: 'releases.read',
  },
  toolUpdateProjectRelease: {
    method: 'PUT',
    path: '/api/0/projects/:org/:project/releases/:version/',
    tag: UPLOAD_TOOLS,
    summary: 'Finalise a release in one project',
    permission: 'releases.write',
    params: projectReleaseParams,
    body: ReleaseBody.omit({ version: true }),
    response: Release,
    refusals: [404],
  },
  toolPreviousRelease: {
    ...readOf(
      '/api/0/organizations/:org/releases/:version/previous-with-commits/',
      'The release before with commits: tools then send all of theirs',
      releaseParams,
      z.object({}),
    ),
    permission: 'releases.read',
  },
  toolListDeploys: {
    ...readOf(
      '/api/0/organizations/:org/releases/:version/deploys/',
      'Deploys of a release',
      releaseParams,
      listed(Deploy),
    ),
    permission: 'releases.read',
  },
  toolCreateDeploy: {
    method: 'POST',
    path: '/api/0/organizations/:org/releases/:version/deploys/',
    tag: UPLOAD_TOOLS,
    summary: 'Report a deploy of a release',
    permission: 'releases.write',
    status: 201,
    params: releaseParams,
    body: z.object({
      environment: DeployEnvironment,
      name: z.string().max(200).nullish(),
      url: z.string().max(2_000).nullish(),
      dateStarted: time,
      dateFinished: time,
      projects: projects.nullish(),
    }),
    response: Deploy,
    refusals: [404, 409],
  },
  toolReadChunkUpload: {
    ...readOf(
      '/api/0/organizations/:org/chunk-upload/',
      'How files are sent in chunks',
      orgParams,
      z.object({
        url: z.string(),
        chunkSize: z.number().int(),
        chunksPerRequest: z.number().int(),
        maxFileSize: z.number().int(),
        maxRequestSize: z.number().int(),
        concurrency: z.number().int(),
        hashAlgorithm: z.literal('sha1'),
        compression: z.array(z.string()),
        accept: z.array(z.string()),
      }),
    ),
    permission: 'uploads.write',
  },
  toolUploadChunks: {
    method: 'POST',
    path: '/api/0/organizations/:org/chunk-upload/',
    tag: UPLOAD_TOOLS,
    summary: 'Send chunks of files',
    description: 'A multipart form. Each part is named by the SHA-1 of its content; `file_gzip` is compressed.',
    permission: 'uploads.write',
    params: orgParams,
    upload: { maxBytes: CHUNKS.requestBytes + 1024 * 1024 },
    response: z.object({}),
    refusals: [404, 409],
  },
  toolAssembleBundle: {
    method: 'POST',
    path: '/api/0/organizations/:org/artifactbundle/assemble/',
    tag: UPLOAD_TOOLS,
    summary: 'Put a bundle of source maps together of its chunks',
    permission: 'uploads.write',
    params: orgParams,
    body: z.object({
      checksum: Digest,
      chunks,
      projects: projects.min(1),
      version: version.nullish(),
      dist: z.string().max(64).nullish(),
    }),
    response: Assembled,
    isSlow: true,
    refusals: [404, 409],
  },
  toolAssembleDifs: {
    method: 'POST',
    path: '/api/0/projects/:org/:project/files/difs/assemble/',
    tag: UPLOAD_TOOLS,
    summary: 'Put debug files and mappings together of their chunks',
    permission: 'uploads.write',
    params: projectParams,
    body: z.record(Digest, z.object({ name: z.string().max(1_000), debug_id: z.string().max(100).nullish(), chunks })),
    response: z.record(z.string(), Assembled.extend({ dif: Dif.optional() })),
    isSlow: true,
    refusals: [404, 409],
  },
  toolUploadDsyms: {
    method: 'POST',
    path: '/api/0/projects/:org/:project/files/dsyms/',
    tag: UPLOAD_TOOLS,
    summary: 'Send a zip of debug files and mappings',
    permission: 'uploads.write',
    status: 201,
    params: projectParams,
    upload: { maxBytes: CHUNKS.requestBytes * 16 },
    response: listed(Dif),
    refusals: [404, 409],
  },
  toolFindUnknown: {
    method: 'GET',
    path: '/api/0/projects/:org/:project/files/dsyms/unknown/',
    tag: UPLOAD_TOOLS,
    summary: 'Which of these files are missing',
    permission: 'uploads.read',
    params: projectParams,
    query: z.strictObject({
      checksums: z.preprocess(
        (given): unknown => (given === undefined ? [] : Array.isArray(given) ? given : [given]),
        z.array(Digest).max(1_000),
      ),
    }),
    response: z.object({ missing: z.array(z.string()) }),
    refusals: [404],
  },
  toolAssociate: {
    method: 'POST',
    path: '/api/0/projects/:org/:project/files/dsyms/associate/',
    tag: UPLOAD_TOOLS,
    summary: 'Old tools name the releases of debug files: their ids suffice',
    permission: 'uploads.write',
    params: projectParams,
    body: z.looseObject({}),
    response: z.object({ associatedDsymFiles: z.array(z.never()) }),
    refusals: [404],
  },
  toolMappingRelease: {
    method: 'POST',
    path: '/api/0/projects/:org/:project/files/proguard-artifact-releases',
    tag: UPLOAD_TOOLS,
    summary: 'Name the release of a mapping',
    permission: 'uploads.write',
    status: 201,
    params: projectParams,
    body: z.object({ release_name: version, proguard_uuid: z.guid().toLowerCase() }),
    response: z.object({}),
    refusals: [404],
  },
  toolReprocess: {
    method: 'POST',
    path: '/api/0/projects/:org/:project/reprocessing/',
    tag: UPLOAD_TOOLS,
    summary: 'Nothing is to be done: events are read with new files at once',
    permission: 'uploads.write',
    params: projectParams,
    body: z.looseObject({}).nullish(),
    response: z.object({}),
    refusals: [404],
  },
})
