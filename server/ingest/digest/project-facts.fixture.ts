import { compileFilters } from '../filters/compile-filters.ts'
import { compileGrouping } from '../../issues/grouping/grouping.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { groupingSettings } from '../../issues/grouping/grouping-settings.ts'
import { filterSettings } from '../filters/filter-settings.ts'
import { createTraceShares } from '../../telemetry/traces/trace-share.ts'
import { SpanNames } from '../../telemetry/performance/measure.ts'
import type { ProjectFacts } from './project-facts.ts'

/** A project with default settings. */
export const someProject = (): ProjectFacts => ({
  projectId: newId(),
  orgId: newId(),
  defaultEnvironment: 'production',
  grouping: compileGrouping(groupingSettings({})),
  discarded: null,
  storeProfiles: false,
  storeReplays: false,
  manyUsers: 25,
  newIssueBudget: { perHour: 0, perDay: 0 },
  scrubbing: {},
  ruleOverruns: null,
  traces: createTraceShares(() => 0).of(''),
  spanNames: new SpanNames(),
  symbolicate: null,
  filters: compileFilters(filterSettings({}).inbound_filters),
  ownership: null,
  journeys: null,
  erasures: null,
})
