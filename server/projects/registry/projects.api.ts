import { MAX_EVENTS_PER_MINUTE, MAX_PROJECT_KEYS } from '#shared/limits.ts'
import { PROJECT_PLATFORMS } from '#shared/platforms.ts'
import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, nameSort, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'

export const REGIONS = ['af-south-1', 'eu-central-1', 'us-east-1'] as const
export const Platform = z.enum(PROJECT_PLATFORMS, { error: `platform must be one of ${PROJECT_PLATFORMS.join(', ')}.` })
export const Region = z.enum(REGIONS, { error: `region must be one of ${REGIONS.join(', ')}.` })

export type Platform = z.infer<typeof Platform>
export type Region = z.infer<typeof Region>

export const ProjectName = z
  .string({ error: 'name must be a string.' })
  .trim()
  .min(1, { error: 'name must not be empty.' })
  .max(80, { error: 'name must be at most 80 characters.' })

export const ProjectSlug = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/, {
  error: 'slug takes lower-case letters, digits and inner hyphens, at most 50.',
})

export const Project = z.object({
  id: Id,
  number: z.number().int().describe('Identifies the project in its DSN only.'),
  name: z.string(),
  slug: z.string(),
  platform: Platform,
  region: Region,
  dsn: z.string(),
  created_at: Timestamp,
  open_issues: z.number().int().describe('Unresolved, regressed and escalated issues.'),
  events_24h: z.number().int(),
  last_event_at: Timestamp.nullable(),
})

export const REFUSAL_REASONS = ['unknown', 'expired', 'other_project', 'unreadable'] as const
export type RefusalReason = (typeof REFUSAL_REASONS)[number]

export const KeyRefusal = z.object({
  at: Timestamp.describe('To ten seconds.'),
  reason: z
    .enum(REFUSAL_REASONS)
    .describe(
      'unknown: no project has the key. expired: it was replaced, removed or disabled. other_project: the DSN names this project with the key of another. unreadable: the key is right, and the body is not what an SDK sends.',
    ),
})

const KeyName = z
  .string({ error: 'name must be a string.' })
  .trim()
  .min(1, { error: 'name must not be empty.' })
  .max(60, { error: 'name must be at most 60 characters.' })

const KeyRate = z
  .number({ error: 'rate_limit_per_minute must be a number or null.' })
  .int({ error: 'rate_limit_per_minute must be a whole number.' })
  .min(1, { error: 'rate_limit_per_minute must be at least 1.' })
  .max(MAX_EVENTS_PER_MINUTE, { error: `rate_limit_per_minute must be at most ${MAX_EVENTS_PER_MINUTE}.` })
  .nullable()

export const ProjectKey = z.object({
  id: Id,
  name: z.string(),
  public_key: z.string(),
  dsn: z.string(),
  rate_limit_per_minute: z.number().int().nullable().describe('Null for the limit of the project.'),
  is_enabled: z.boolean().describe('A disabled key is refused until it is enabled again.'),
  created_at: Timestamp,
  expires_at: Timestamp.nullable().describe(
    'When the key is refused, after it was replaced or removed; null while it is in use.',
  ),
  last_seen_at: Timestamp.nullable(),
})

const params = z.object({ projectId: Id })
const keyParams = z.object({ projectId: Id, keyId: Id })

export const projectRoutes = routes({
  listProjects: {
    method: 'GET',
    path: '/api/projects',
    tag: 'Projects',
    summary: "Projects of the caller's organisation",
    permission: 'projects.read',
    query: z.strictObject({
      ...pageQuery(),
      sort: nameSort,
    }),
    response: pageSchema(Project),
  },
  rotateDsn: {
    method: 'POST',
    path: '/api/projects/:projectId/rotate-dsn',
    tag: 'Projects',
    summary: 'Create a new DSN and let the old one expire',
    description:
      'The new key works immediately. The old one expires after grace_seconds (default and maximum: 300). It replaces the key in the DSN of the project, or the key of key_id; name and limit stay, and so do other keys.',
    permission: 'projects.write',
    params,
    body: z
      .strictObject({
        grace_seconds: z
          .number()
          .int()
          .min(0)
          .max(300)
          .default(300)
          .describe('Seconds for which the old key still works.'),
        key_id: Id.optional(),
      })
      .optional(),
    response: z.object({ dsn: z.string(), old_dsn: z.string().nullable(), old_dsn_expires_at: Timestamp.nullable() }),
    refusals: [404],
  },
  createProjectKey: {
    method: 'POST',
    path: '/api/projects/:projectId/keys',
    tag: 'Projects',
    summary: 'Add a key to a project',
    description: `A DSN of its own, such as for another app or environment, with its own limit. At most ${MAX_PROJECT_KEYS} keys, with different names (409).`,
    permission: 'projects.write',
    status: 201,
    params,
    body: z.strictObject({ name: KeyName, rate_limit_per_minute: KeyRate.default(null) }),
    response: ProjectKey,
    refusals: [404, 409],
  },
  updateProjectKey: {
    method: 'PATCH',
    path: '/api/projects/:projectId/keys/:keyId',
    tag: 'Projects',
    summary: 'Change a key of a project',
    description:
      'Absent fields stay. A disabled key is refused from then on; the last active key cannot be disabled (409).',
    permission: 'projects.write',
    params: keyParams,
    body: z
      .strictObject({
        name: KeyName.optional(),
        rate_limit_per_minute: KeyRate.optional(),
        is_enabled: z.boolean({ error: 'is_enabled must be true or false.' }).optional(),
      })
      .refine((body) => Object.values(body).some((value) => value !== undefined), {
        error: 'Send name, rate_limit_per_minute or is_enabled.',
      }),
    response: ProjectKey,
    refusals: [404, 409],
  },
  removeProjectKey: {
    method: 'DELETE',
    path: '/api/projects/:projectId/keys/:keyId',
    tag: 'Projects',
    summary: 'Remove a key of a project',
    description: 'It is refused from then on, for ever. The last active key cannot be removed (409).',
    permission: 'projects.write',
    status: 204,
    params: keyParams,
    refusals: [404, 409],
  },
  readOnboarding: {
    method: 'GET',
    path: '/api/onboarding/status',
    tag: 'Onboarding',
    summary: 'Which onboarding steps are done',
    permission: 'projects.read',
    response: z.object({
      steps: z.object({
        project_created: z.boolean(),
        sdk_installed: z.boolean().describe('A valid request of any kind arrived.'),
        first_event: z.boolean(),
        team_invited: z.boolean(),
      }),
      completed: z.boolean(),
      regions: z
        .array(Region)
        .describe('Regions of this installation, for a new project; empty when none is configured.'),
      default_region: Region,
    }),
  },
})
