import { z } from 'zod'
import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { groupingFields, GroupingTransition, LATEST_GROUPING_VERSION, NO_GROUPING_RULES } from './grouping-rules.api.ts'

/** Projects without a stored version use the latest. */
export const groupingSettings = storedSettings({
  grouping_version: z.number().int().min(2).catch(LATEST_GROUPING_VERSION),
  grouping_transition: GroupingTransition.nullable().catch(null),
  grouping_rules: groupingFields.grouping_rules.catch(NO_GROUPING_RULES),
})
