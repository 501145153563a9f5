import type { Config } from '../../config/config.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { REGIONS, type Region } from './projects.api.ts'
import { readOnboardingFacts } from './projects.queries.ts'

export type Onboarding = {
  steps: { project_created: boolean; sdk_installed: boolean; first_event: boolean; team_invited: boolean }
  completed: boolean
  regions: Region[]
  default_region: Region
}

/** Returns which steps are done, derived from stored data and not from clicks. */
export async function readOnboarding(app: App, actor: OrgActor): Promise<Onboarding> {
  const facts = await readOnboardingFacts(app.db, actor.orgId)
  const steps = {
    project_created: facts.projects,
    sdk_installed: facts.requests,
    first_event: facts.events,
    team_invited: facts.invites,
  }
  return { steps, completed: Object.values(steps).every(Boolean), ...readRegions(app.config) }
}

/** The regions of this installation, and the one for a new project. */
export function readRegions({
  region,
  ingestUrls,
}: Pick<Config, 'region' | 'ingestUrls'>): Pick<Onboarding, 'regions' | 'default_region'> {
  const regions = region === null ? REGIONS.filter((one) => ingestUrls[one] !== undefined) : [region]
  return { regions, default_region: regions[0] ?? 'us-east-1' }
}
