import { FORBIDDEN_IN_RELEASE, isReleaseName } from '#shared/release-name.ts'
import { z } from 'zod'
import { routes } from '../kernel/contract.ts'
import { Id, pageOf, pageQuery, timeInput, Timestamp } from '../kernel/page.api.ts'

/** Releases as people and tools make and change them; lists and figures: release-health/release-health.api.ts. */

/** Commits one call may bring: with their files they must fit a body of 1 MiB. */
export const MAX_COMMITS = 1_000
const MAX_FILES = 500

/**
 * The name of a release as people and tools send it, spaces around it apart. A line break at its end is refused like
 * any other: taking it off would make two names one that the sender tells apart.
 */
export const releaseName = (error: string) =>
  z
    .string({ error })
    .refine((given) => !FORBIDDEN_IN_RELEASE.test(given), { error })
    .trim()
    .refine(isReleaseName, { error })

const Version = releaseName(
  'version takes 1 to 200 characters without slash, backslash, tab or line break; not ".", ".." or "latest".',
)

export const RELEASE_STATES = ['planned', 'open', 'archived'] as const
export const ReleaseState = z
  .enum(RELEASE_STATES)
  .describe('planned: named by somebody, nothing came from it yet. archived: nobody waits for it any more.')
export type ReleaseState = z.infer<typeof ReleaseState>

const text = (name: string, most: number) =>
  z
    .string({ error: `${name} must be text.` })
    .max(most, { error: `${name} must be at most ${most.toLocaleString('en-GB')} characters.` })
    .refine((given) => given.isWellFormed(), { error: `${name} must be well-formed Unicode.` })

const link = (name: string) =>
  z
    .url({ protocol: /^https?$/, error: `${name} must be an http or https address.` })
    .max(2_000, { error: `${name} must be at most 2,000 characters.` })

export const PatchEntry = z.strictObject({
  path: text('patch_set.path', 1_000).min(1, { error: 'patch_set.path must not be empty.' }),
  type: z.enum(['A', 'M', 'D'], { error: 'patch_set.type must be A, M or D.' }).describe('Added, modified, deleted.'),
})

const CommitInput = z.strictObject({
  id: z
    .string({ error: 'commits.id must be a string.' })
    .trim()
    .regex(/^[0-9A-Za-z][0-9A-Za-z._:+-]{0,127}$/, {
      error: 'commits.id takes a commit hash: 1 to 128 letters, digits and . _ : + -',
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
  .max(MAX_COMMITS, { error: `commits must be at most ${MAX_COMMITS.toLocaleString('en-GB')}; send more in parts.` })
  .describe('Newest first.')

export const Commit = z.object({
  id: z.string().describe('Its hash.'),
  repository: z.string().nullable(),
  message: z.string().nullable(),
  author_name: z.string().nullable(),
  author_email: z.string().nullable(),
  timestamp: Timestamp.nullable(),
  patch_set: z
    .array(z.object({ path: z.string(), type: z.string() }))
    .describe('Files it changed, as far as they were told.'),
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
  ref: z.string().nullable().describe('Branch, tag or commit it was built from.'),
  created_at: Timestamp,
  released_at: Timestamp.nullable(),
  first_seen: Timestamp.nullable().describe('First event, session or transaction, by receipt.'),
  last_seen: Timestamp.nullable().describe('Newest one; up to a minute behind.'),
  first_event: Timestamp.nullable(),
  last_event: Timestamp.nullable(),
  first_session: Timestamp.nullable(),
  last_session: Timestamp.nullable(),
  commit_count: z.number().int(),
  deploy_count: z.number().int(),
})
export type Release = z.infer<typeof Release>

/** Its own commits and deploys beside it, as far as a look at one release shows them. */
export const ReleaseParts = z.object({
  commits: z.array(Commit).describe('The newest 25.'),
  deploys: z.array(Deploy).describe('The newest 25.'),
})
export const WholeRelease = Release.extend(ReleaseParts.shape)
export type WholeRelease = z.infer<typeof WholeRelease>

/** The same in lists. */
export const ListedParts = z.object({
  commits: z
    .array(Commit.omit({ patch_set: true }))
    .describe('The newest 3, the first 500 characters of each message; commit_count says how many there are.'),
  deploys: z.array(Deploy).describe('The newest 3; deploy_count says how many there are.'),
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
      'A release makes itself when the first event, session or transaction comes from it. The same version again is 409, but for one that was only planned, by resolving an issue in it: that one is taken over. Issues resolved in one of the commits are then fixed in this release.',
    permission: 'releases.write',
    status: 201,
    query: z.strictObject({ projectId: Id.optional().describe('Instead of projectId in the body.') }),
    body: z.strictObject({
      projectId: Id.optional().describe('Of the project; unless the address names it.'),
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
    summary: 'Change when a release came out, its state, address or ref',
    description: 'Absent fields stay, null clears.',
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
    response: pageOf(Commit),
    refusals: [404],
  },
  addReleaseCommits: {
    method: 'POST',
    path: '/api/releases/:releaseId/commits',
    tag: 'Releases',
    summary: 'Add commits to a release',
    description:
      'Those it has already are updated in place; others stand before them. At most 10,000 are kept for a release. Issues resolved in one of them are then fixed in this release.',
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
    response: pageOf(Deploy),
    refusals: [404],
  },
  createDeploy: {
    method: 'POST',
    path: '/api/releases/:releaseId/deploys',
    tag: 'Releases',
    summary: 'Tell that a release was deployed',
    description: 'finished_at is now unless given, where started_at is not given either.',
    permission: 'releases.write',
    status: 201,
    params,
    body: z
      .strictObject({
        environment: text('environment', 64)
          .trim()
          .min(1, { error: 'environment must not be empty.' })
          .refine((name) => !/[\n\r/]/.test(name) && name.toLowerCase() !== 'none', {
            error: 'environment takes no slash or line break, and is not "None".',
          }),
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
    summary: 'When releases came out, for charts',
    description:
      'Releases that came out in the range, oldest first: when somebody said so, else when they were first seen. The newest 50 of the range; planned and archived ones are left out.',
    permission: 'releases.read',
    query: z.strictObject({
      projectId: z
        .preprocess((given) => (given === undefined || Array.isArray(given) ? given : [given]), z.array(Id).max(100))
        .optional()
        .describe('May repeat; all projects of the organisation unless given.'),
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
