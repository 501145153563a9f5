import { MAX_EVENTS_PER_MINUTE } from '#shared/limits.ts'
import { z } from 'zod'
import { routes } from '../kernel/contract.ts'
import { Id, pageOf, pageQuery, Timestamp } from '../kernel/page.api.ts'
import { GroupingRules, GroupingTransition } from './grouping-rules.api.ts'
import { InboundFilters, InboundFiltersPatch } from './inbound-filters.api.ts'
import { EscalatingRules, SeverityRules } from './issue-rules.api.ts'
import { OwnershipRules } from './ownership-rules.api.ts'
import { ScrubRuleList } from './scrub-rules.api.ts'

export const PLATFORMS = ['react-native', 'flutter', 'ios', 'android', 'web'] as const
export const REGIONS = ['af-south-1', 'eu-central-1', 'us-east-1'] as const
export const Platform = z.enum(PLATFORMS, { error: `platform must be one of ${PLATFORMS.join(', ')}.` })
export const Region = z.enum(REGIONS, { error: `region must be one of ${REGIONS.join(', ')}.` })

export type Platform = z.infer<typeof Platform>
export type Region = z.infer<typeof Region>

const projectName = z
  .string({ error: 'name must be a string.' })
  .trim()
  .min(1, { error: 'name must not be empty.' })
  .max(80, { error: 'name must be at most 80 characters.' })

const slug = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/, {
  error: 'slug takes lower-case letters, digits and inner hyphens, at most 50.',
})

export const Project = z.object({
  id: Id,
  number: z.number().int().describe('Names the project in its DSN and nowhere else.'),
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

export const ProjectKey = z.object({
  id: Id,
  public_key: z.string(),
  dsn: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp.nullable().describe('Set when the key was rotated away: it is refused from then on.'),
  last_seen_at: Timestamp.nullable(),
})

/** What a project can be set to; absent keeps, null clears where null is allowed. */
const settingFields = {
  name: projectName,
  slug,
  default_environment: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[^\n\r/]+$/, { error: 'default_environment must not hold a slash or a line break.' }),
  retention_days: z.number().int().min(1).max(400),
  auto_resolve_days: z.number().int().min(0).max(365).describe('0 switches it off.'),
  allowed_origins: z
    .array(z.string().min(1).max(200))
    .max(50)
    .describe('Browser origins that may send; empty allows all.'),
  scrub_ip_addresses: z.boolean().describe('Remove client addresses before anything is stored.'),
  scrub_email_addresses: z
    .boolean()
    .describe('Replace e-mail addresses in texts and values before anything is stored.'),
  scrub_fields: z.array(z.string().min(1).max(100)).max(100).describe('Further keys whose values are removed.'),
  safe_fields: z.array(z.string().min(1).max(100)).max(100).describe('Keys never removed by the default rules.'),
  scrub_rules: ScrubRuleList.describe('Rules of the project, applied before the default ones.'),
  rate_limit_per_minute: z
    .number()
    .int()
    .min(1)
    .max(MAX_EVENTS_PER_MINUTE)
    .nullable()
    .describe('Per key; null for the default of 3,000.'),
  spike_protection: z
    .boolean()
    .describe('Over the limit, the first events of problems not seen before still get through.'),
  grouping_rules: GroupingRules.describe(
    'Rules of the project about what is one issue; the lists replace those before.',
  ),
  ownership_rules: OwnershipRules.describe(
    'Who gets new issues: of the rules that match, the last one decides. The list replaces the one before.',
  ),
  store_profiles: z.boolean(),
  store_replays: z.boolean(),
}

export const ProjectSettings = z.object({
  id: Id,
  number: z.number().int(),
  platform: Platform,
  region: Region,
  dsn: z.string(),
  created_at: Timestamp,
  ...settingFields,
  inbound_filters: InboundFilters,
  escalating: EscalatingRules,
  severity_rules: SeverityRules,
  grouping_version: z.number().int(),
  grouping_transition: GroupingTransition.nullable().describe(
    'While a change of version is under way: events unknown to it join the issue the version before finds.',
  ),
  keys: z.array(ProjectKey),
})

export const ProjectSettingsPatch = z
  .strictObject({
    ...settingFields,
    inbound_filters: InboundFiltersPatch.describe('Filters named here change, the others stay.'),
    escalating: EscalatingRules.partial().describe('When an issue escalates; what is named here changes.'),
    severity_rules: SeverityRules.partial().describe('When an issue reaches many; what is named here changes.'),
  })
  .partial()

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
      sort: z
        .enum(['name', '-name', 'created_at', '-created_at'], {
          error: 'sort must be one of name, -name, created_at, -created_at.',
        })
        .default('name'),
    }),
    response: pageOf(Project),
  },
  createProject: {
    method: 'POST',
    path: '/api/projects',
    tag: 'Projects',
    summary: 'Create a project with its first DSN',
    description: 'The slug is made from the name; 409 when the organisation has it already.',
    permission: 'projects.write',
    status: 201,
    body: z.strictObject({
      name: projectName,
      platform: Platform,
      region: Region,
      slug: slug.optional(),
      scrub_ip_addresses: settingFields.scrub_ip_addresses.optional(),
    }),
    response: Project,
    refusals: [409],
  },
  readProjectSettings: {
    method: 'GET',
    path: '/api/projects/:projectId/settings',
    tag: 'Projects',
    summary: 'Settings of a project, with its keys',
    permission: 'projects.read',
    params,
    response: ProjectSettings,
    refusals: [404],
  },
  updateProjectSettings: {
    method: 'PATCH',
    path: '/api/projects/:projectId/settings',
    tag: 'Projects',
    summary: 'Change settings of a project',
    description: 'Absent fields stay as they are; an unknown field is 400. Platform and region cannot change.',
    permission: 'projects.write',
    params,
    body: ProjectSettingsPatch,
    response: ProjectSettings,
    refusals: [404, 409],
  },
  rotateDsn: {
    method: 'POST',
    path: '/api/projects/:projectId/rotate-dsn',
    tag: 'Projects',
    summary: 'Create a new DSN and let the old one expire',
    description:
      'The new key works at once. The old one stops within grace_seconds (default and most: 300) everywhere.',
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
    summary: 'Which steps of setting up are done, judged from facts',
    permission: 'projects.read',
    response: z.object({
      steps: z.object({
        project_created: z.boolean(),
        sdk_installed: z.boolean().describe('A valid request of any kind arrived.'),
        first_event: z.boolean(),
        team_invited: z.boolean(),
      }),
      completed: z.boolean(),
    }),
  },
})
