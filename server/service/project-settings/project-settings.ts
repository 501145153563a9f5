import { healthSettings } from '../../telemetry/app-health/health-settings.ts'
import { attachmentSettings } from '../../events/attachments/attachment-settings.ts'
import { filterSettings } from '../../ingest/filters/filter-settings.ts'
import { groupingSettings } from '../../issues/grouping/grouping-settings.ts'
import { criticalPathSettings } from '../../telemetry/journeys/critical-path-settings.ts'
import { intakeSettings } from '../../ingest/intake/intake-settings.ts'
import { issueSettings } from '../../issues/rules/issue-settings.ts'
import { limitSettings } from '../../ingest/limits/limit-settings.ts'
import { ownershipSettings } from '../../issues/ownership/ownership-settings.ts'
import { scrubSettings } from '../../ingest/scrubbing/scrub-settings.ts'
import { generalSettings } from '../../projects/registry/general-settings.ts'

/** Returns all settings of a project: stored values, and defaults for the rest. A domain reads only its own. */
export const projectSettings = (stored: unknown) => ({
  ...generalSettings(stored),
  ...issueSettings(stored),
  ...intakeSettings(stored),
  ...scrubSettings(stored),
  ...limitSettings(stored),
  ...groupingSettings(stored),
  ...ownershipSettings(stored),
  ...attachmentSettings(stored),
  ...healthSettings(stored),
  ...criticalPathSettings(stored),
  ...filterSettings(stored),
})
