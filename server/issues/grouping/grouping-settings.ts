import { z } from 'zod'
import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { FIRST_GROUPING_VERSION, groupingFields, GroupingTransition, NO_GROUPING_RULES } from './grouping-rules.api.ts'

/** Projects without a stored version keep the first one. */
export const groupingSettings = storedSettings({
  grouping_version: z.number().int().min(FIRST_GROUPING_VERSION).catch(FIRST_GROUPING_VERSION),
  grouping_transition: GroupingTransition.nullable().catch(null),
  grouping_rules: groupingFields.grouping_rules.catch(NO_GROUPING_RULES),
})
