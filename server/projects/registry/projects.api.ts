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
      'unknown: no project has the key. expired: it was replaced. other_project: the DSN names this project with the key of another. unreadable: the key is right, and the body is not what an SDK sends.',
    ),
})

export const ProjectKey = z.object({
  id: Id,
  public_key: z.string(),
  dsn: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp.nullable().describe('Set when the key was replaced: after this time it is refused.'),
  last_seen_at: Timestamp.nullable(),
})

const params = z.object({ projectId: Id })

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
    description: 'The new key works immediately. The old one expires after grace_seconds (default and maximum: 300).',
    permission: 'projects.write',
    params,
    body: z.strictObject({ grace_seconds: z.number().int().min(0).max(300).default(300) }).optional(),
    response: z.object({ dsn: z.string(), old_dsn: z.string().nullable(), old_dsn_expires_at: Timestamp.nullable() }),
    refusals: [404],
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
