import { z } from 'zod'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { GroupingTransition, NO_GROUPING_RULES } from './grouping-rules.api.ts'
import { StoredInboundFilters } from './inbound-filters.api.ts'
import { StoredEscalating, StoredSeverityRules } from './issue-rules.api.ts'
import { ProjectSettingsPatch } from './projects.api.ts'

const fields = ProjectSettingsPatch.shape

/**
 * What `projects.settings` holds. Every field falls back to its default by itself, so that one value nobody
 * understands any more does not take the others with it.
 */
const Stored = z.object({
  default_environment: fields.default_environment.unwrap().catch('production'),
  retention_days: fields.retention_days.unwrap().catch(90),
  auto_resolve_days: fields.auto_resolve_days.unwrap().catch(14),
  allowed_origins: fields.allowed_origins.unwrap().catch([]),
  scrub_ip_addresses: fields.scrub_ip_addresses.unwrap().catch(false),
  scrub_email_addresses: fields.scrub_email_addresses.unwrap().catch(false),
  scrub_fields: fields.scrub_fields.unwrap().catch([]),
  safe_fields: fields.safe_fields.unwrap().catch([]),
  scrub_rules: fields.scrub_rules.unwrap().catch([]),
  inbound_filters: StoredInboundFilters,
  escalating: StoredEscalating,
  severity_rules: StoredSeverityRules,
  rate_limit_per_minute: fields.rate_limit_per_minute.unwrap().catch(null),
  spike_protection: fields.spike_protection.unwrap().catch(true),
  ownership_rules: fields.ownership_rules.unwrap().catch([]),
  store_profiles: fields.store_profiles.unwrap().catch(false),
  store_replays: fields.store_replays.unwrap().catch(false),
  grouping_version: z.number().int().min(1).catch(1),
  grouping_transition: GroupingTransition.nullable().catch(null),
  grouping_rules: fields.grouping_rules.unwrap().catch(NO_GROUPING_RULES),
})

export type ProjectSettingsValues = z.output<typeof Stored>

/** Settings of a project as they apply: what is stored, defaults for the rest. */
export function projectSettings(stored: unknown): ProjectSettingsValues {
  const parsed = Stored.safeParse(stored)
  return parsed.success ? parsed.data : Stored.parse({})
}

/** The first day of a project's retention: what is older is hidden before it is deleted. */
export const oldestDay = (settings: Pick<ProjectSettingsValues, 'retention_days'>, now: Date): string =>
  dayPlus(dayOf(now), -settings.retention_days)
