import { crashSettings } from '../app-health/crash-settings.ts'
import { attachmentSettings } from '../attachments/attachment-settings.ts'
import { filterSettings } from '../filters/filter-settings.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { criticalPathSettings } from '../journeys/critical-path-settings.ts'
import { intakeSettings } from '../intake/intake-settings.ts'
import { issueSettings } from '../issue-rules/issue-settings.ts'
import { limitSettings } from '../limits/limit-settings.ts'
import { ownershipSettings } from '../ownership/ownership-settings.ts'
import { scrubSettings } from '../scrubbing/scrub-settings.ts'
import { generalSettings } from '../projects/general-settings.ts'

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
  ...crashSettings(stored),
  ...criticalPathSettings(stored),
  ...filterSettings(stored),
})
