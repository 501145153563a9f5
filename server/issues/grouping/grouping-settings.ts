import { z } from 'zod'
import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { groupingFields, GroupingTransition, NO_GROUPING_RULES } from './grouping-rules.api.ts'

/** Projects without a stored version use version 1. */
export const groupingSettings = storedSettings({
  grouping_version: z.number().int().min(1).catch(1),
  grouping_transition: GroupingTransition.nullable().catch(null),
  grouping_rules: groupingFields.grouping_rules.catch(NO_GROUPING_RULES),
})
