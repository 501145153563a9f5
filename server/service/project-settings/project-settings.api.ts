import { z } from 'zod'
import { healthFields } from '../../telemetry/app-health/health-settings.api.ts'
import { attachmentFields } from '../../events/attachments/attachment-settings.api.ts'
import { InboundFilters, InboundFiltersPatch } from '../../ingest/filters/inbound-filters.api.ts'
import { groupingFields, GroupingTransition } from '../../issues/grouping/grouping-rules.api.ts'
import { intakeFields } from '../../ingest/intake/intake-settings.api.ts'
import { EscalatingRules, issueFields, SeverityRules } from '../../issues/rules/issue-settings.api.ts'
import { criticalPathFields } from '../../telemetry/journeys/critical-paths.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'
import { limitFields } from '../../ingest/limits/limit-settings.api.ts'
import { ownershipFields } from '../../issues/ownership/ownership-rules.api.ts'
import { scrubFields } from '../../ingest/scrubbing/scrub-settings.api.ts'
import { generalFields } from '../../projects/registry/general-settings.api.ts'
import {
  KeyRefusal,
  Platform,
  Project,
  ProjectKey,
  ProjectName,
  ProjectSlug,
  Region,
} from '../../projects/registry/projects.api.ts'

/** Settings of a project. In a change, absent fields stay; null clears where it is allowed. */
const settingFields = {
  name: ProjectName,
  slug: ProjectSlug,
  ...generalFields,
  ...issueFields,
  ...intakeFields,
  ...scrubFields,
  ...limitFields,
  ...groupingFields,
  ...ownershipFields,
  ...attachmentFields,
  ...healthFields,
  ...criticalPathFields,
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
    'During a change of the version: events with an unknown fingerprint join the issue of the previous version. Null at other times.',
  ),
  keys: z.array(ProjectKey),
  last_key_refusal: KeyRefusal.nullable().describe(
    'The last request to this project that was refused because of its key, or that could not be read; null when there was none.',
  ),
})

export const ProjectSettingsPatch = z
  .strictObject({
    ...settingFields,
    inbound_filters: InboundFiltersPatch.describe('Only the given filters change.'),
    escalating: EscalatingRules.partial().describe('When an issue escalates. Only the given fields change.'),
    severity_rules: SeverityRules.partial().describe('When an issue has high impact. Only the given fields change.'),
  })
  .partial()

const params = z.object({ projectId: Id })

export const projectSettingsRoutes = routes({
  createProject: {
    method: 'POST',
    path: '/api/projects',
    tag: 'Projects',
    summary: 'Create a project with its first DSN',
    description: 'The slug is derived from the name. 409 if the organisation already has it.',
    permission: 'projects.write',
    status: 201,
    body: z.strictObject({
      name: ProjectName,
      platform: Platform,
      region: Region,
      slug: ProjectSlug.optional(),
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
})
