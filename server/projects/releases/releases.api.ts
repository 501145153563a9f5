import { CONTROL_CHARACTER, isEnvironmentName, isReleaseName } from '#shared/release-name.ts'
import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageSchema, pageQuery, timeInput, Timestamp, oneOrMany } from '../../platform/kernel/page.api.ts'

/** Creating and changing releases. For lists and health see insights/release-health/release-health.api.ts. */

/** Commits per call. With their files they must fit a body of 1 MiB. */
export const MAX_COMMITS = 1_000
const MAX_FILES = 500

/**
 * The name of a release, trimmed of spaces. A line break at its end is refused: removing it would make two different
 * names equal.
 */
export const releaseName = (error: string) =>
  z
    .string({ error })
    .refine((given) => !CONTROL_CHARACTER.test(given), { error })
    .trim()
    .refine(isReleaseName, { error })

const Version = releaseName(
  'version must have 1 to 200 characters without tab, line break or other control character, and must not be ".", ".." or "latest".',
)

export const RELEASE_STATES = ['planned', 'open', 'archived'] as const
export const ReleaseState = z
  .enum(RELEASE_STATES)
  .describe('planned: announced, no event or session has arrived yet. archived: not offered any more.')
export type ReleaseState = z.infer<typeof ReleaseState>

const text = (name: string, max: number) =>
  z
    .string({ error: `${name} must be text.` })
    .max(max, { error: `${name} must be at most ${max.toLocaleString('en-GB')} characters.` })
    .refine((given) => given.isWellFormed(), { error: `${name} must be well-formed Unicode.` })

const link = (name: string) =>
  z
    .url({ protocol: /^https?$/, error: `${name} must be an http or https address.` })
    .max(2_000, { error: `${name} must be at most 2,000 characters.` })

export const PatchEntry = z.strictObject({
  path: text('patch_set.path', 1_000).min(1, { error: 'patch_set.path must not be empty.' }),
  type: z.enum(['A', 'M', 'D'], { error: 'patch_set.type must be A, M or D.' }).describe('Added, modified, deleted.'),
})

export const CommitInput = z.strictObject({
  id: z
    .string({ error: 'commits.id must be a string.' })
    .trim()
    .regex(/^[0-9A-Za-z][0-9A-Za-z._:+-]{0,127}$/, {
      error: 'commits.id must be a commit hash: 1 to 128 letters, digits and . _ : + -',
    })
    .transform((id) => (/^[0-9a-f]+$/i.test(id) ? id.toLowerCase() : id)),
  repository: text('commits.repository', 200).nullish(),
  message: text('commits.message', 10_000).nullish(),
  author_name: text('commits.author_name', 200).nullish(),
  author_email: text('commits.author_email', 320).nullish(),
  timestamp: timeInput('commits.timestamp').nullish(),
  patch_set: z
    .array(PatchEntry)
    .max(MAX_FILES, { error: `commits.patch_set must name at most ${MAX_FILES} files.` })
    .nullish(),
})
export type CommitInput = z.output<typeof CommitInput>

const Commits = z
  .array(CommitInput, { error: 'commits must be a list.' })
  .max(MAX_COMMITS, {
    error: `commits must be at most ${MAX_COMMITS.toLocaleString('en-GB')} per call; send the others in further calls.`,
  })
  .describe('Newest first.')

/** The environment that a release is deployed to. */
export const DeployEnvironment = text('environment', 64)
  .trim()
  .min(1, { error: 'environment must not be empty.' })
  .refine(isEnvironmentName, {
    error: 'environment must not contain a line break or other control character and must not be "None".',
  })

export const Commit = z.object({
  id: z.string().describe('The hash.'),
  repository: z.string().nullable(),
  message: z.string().nullable(),
  author_name: z.string().nullable(),
  author_email: z.string().nullable(),
  timestamp: Timestamp.nullable(),
  patch_set: z
    .array(z.object({ path: z.string(), type: z.string() }))
    .describe('Files it changed, as far as they were sent.'),
})
export type Commit = z.infer<typeof Commit>

export const Deploy = z.object({
  id: Id,
  release_id: Id,
  environment: z.string(),
  name: z.string().nullable(),
  url: z.string().nullable(),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  created_at: Timestamp,
})
export type Deploy = z.infer<typeof Deploy>

export const Release = z.object({
  id: Id,
  project_id: Id,
  version: z.string(),
  state: ReleaseState,
  url: z.string().nullable(),
  ref: z.string().nullable().describe('Branch, tag or commit it was built from; null when unknown.'),
  created_at: Timestamp,
  released_at: Timestamp.nullable(),
  first_seen: Timestamp.nullable().describe('First event, session or transaction, by receipt; null before one.'),
  last_seen: Timestamp.nullable().describe('Newest one, up to a minute behind; null before one.'),
  first_event: Timestamp.nullable(),
  last_event: Timestamp.nullable(),
  first_session: Timestamp.nullable(),
  last_session: Timestamp.nullable(),
  commit_count: z.number().int(),
  deploy_count: z.number().int(),
})
export type Release = z.infer<typeof Release>

/** Commits and deploys in the detail of a release. */
export const ReleaseParts = z.object({
  commits: z.array(Commit).describe('The newest 25.'),
  deploys: z.array(Deploy).describe('The newest 25.'),
})
export const WholeRelease = Release.extend(ReleaseParts.shape)
export type WholeRelease = z.infer<typeof WholeRelease>

/** Commits and deploys in lists. */
export const ListedParts = z.object({
  commits: z
    .array(Commit.omit({ patch_set: true }))
    .describe('The newest 3, with the first 500 characters of each message; commit_count is the number of all.'),
  deploys: z.array(Deploy).describe('The newest 3; deploy_count is the number of all.'),
})
export type ListedParts = z.infer<typeof ListedParts>

const params = z.object({ releaseId: Id })

export const releaseRoutes = routes({
  createRelease: {
    method: 'POST',
    path: '/api/releases',
    tag: 'Releases',
    summary: 'Create a release',
    description:
      'The first event, session or transaction of a release creates it automatically. A version that exists is 409, unless it is only planned because an issue was resolved in it. Issues resolved in one of the commits are then fixed in this release.',
    permission: 'releases.write',
    status: 201,
    query: z.strictObject({ projectId: Id.optional().describe('Instead of projectId in the body.') }),
    body: z.strictObject({
      projectId: Id.optional().describe('The project, unless the query names it.'),
      version: Version,
      released_at: timeInput('released_at').nullish(),
      url: link('url').nullish(),
      ref: text('ref', 250).nullish(),
      commits: Commits.optional(),
    }),
    response: WholeRelease,
    refusals: [404, 409],
  },
  updateRelease: {
    method: 'PATCH',
    path: '/api/releases/:releaseId',
    tag: 'Releases',
    summary: 'Change the date, state, URL or ref of a release',
    description: 'Absent fields keep their value; null clears it.',
    permission: 'releases.write',
    params,
    body: z
      .strictObject({
        released_at: timeInput('released_at').nullable().optional(),
        state: z.enum(['open', 'archived'], { error: 'state must be open or archived.' }).optional(),
        url: link('url').nullable().optional(),
        ref: text('ref', 250).nullable().optional(),
      })
      .refine((body) => Object.values(body).some((value) => value !== undefined), {
        error: 'Send at least one of released_at, state, url, ref.',
      }),
    response: WholeRelease,
    refusals: [404],
  },
  listReleaseCommits: {
    method: 'GET',
    path: '/api/releases/:releaseId/commits',
    tag: 'Releases',
    summary: 'Commits of a release, newest first',
    permission: 'releases.read',
    params,
    query: z.strictObject(pageQuery(25)),
    response: pageSchema(Commit),
    refusals: [404],
  },
  addReleaseCommits: {
    method: 'POST',
    path: '/api/releases/:releaseId/commits',
    tag: 'Releases',
    summary: 'Add commits to a release',
    description:
      'Commits that the release already has are updated in place, others are added before them. A release can have at most 10,000. Issues resolved in one of them are then fixed in this release.',
    permission: 'releases.write',
    params,
    body: z.strictObject({ commits: Commits.min(1, { error: 'commits must not be empty.' }) }),
    response: z.object({ commit_count: z.number().int().describe('Commits the release has now.') }),
    refusals: [404, 409],
  },
  listDeploys: {
    method: 'GET',
    path: '/api/releases/:releaseId/deploys',
    tag: 'Releases',
    summary: 'Deploys of a release, newest first',
    permission: 'releases.read',
    params,
    query: z.strictObject(pageQuery(25)),
    response: pageSchema(Deploy),
    refusals: [404],
  },
  createDeploy: {
    method: 'POST',
    path: '/api/releases/:releaseId/deploys',
    tag: 'Releases',
    summary: 'Report a deploy of a release',
    description: 'Without started_at and finished_at, finished_at is set to now.',
    permission: 'releases.write',
    status: 201,
    params,
    body: z
      .strictObject({
        environment: DeployEnvironment,
        name: text('name', 200).nullish(),
        url: link('url').nullish(),
        started_at: timeInput('started_at').nullish(),
        finished_at: timeInput('finished_at').nullish(),
      })
      .refine(
        ({ started_at: from, finished_at: to }) =>
          typeof from !== 'string' || typeof to !== 'string' || Date.parse(from) <= Date.parse(to),
        { error: 'finished_at must not be before started_at.' },
      ),
    response: Deploy,
    refusals: [404, 409],
  },
  listReleaseMarkers: {
    method: 'GET',
    path: '/api/releases/markers',
    tag: 'Releases',
    summary: 'Dates of releases, for charts',
    description:
      'Open releases by date, oldest first: released_at, else first seen, else created. The newest 50 of the range.',
    permission: 'releases.read',
    query: z.strictObject({
      projectId: oneOrMany(z.array(Id).max(100))
        .optional()
        .describe('May repeat. All projects of the organisation by default.'),
      from: timeInput('from'),
      to: timeInput('to'),
    }),
    response: z.object({
      items: z.array(
        z.object({
          release_id: Id,
          project_id: Id,
          platform: z.string().describe('Of the project.'),
          version: z.string(),
          at: Timestamp,
        }),
      ),
    }),
  },
})
