import { compileFilters } from '../filters/compile-filters.ts'
import { compileGrouping } from '../grouping/grouping.ts'
import { newId } from '../kernel/ids.ts'
import { projectSettings } from '../projects/project-settings.ts'
import type { ProjectFacts } from './project-facts.ts'

/** A project with the settings every new one has. */
export const someProject = (): ProjectFacts => ({
  projectId: newId(),
  orgId: newId(),
  defaultEnvironment: 'production',
  grouping: compileGrouping(projectSettings({})),
  discarded: null,
  storeProfiles: false,
  storeReplays: false,
  manyUsers: 25,
  scrubbing: {},
  filters: compileFilters(projectSettings({}).inbound_filters),
  ownership: null,
  erasures: null,
})
