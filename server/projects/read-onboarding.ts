import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { readOnboardingFacts } from './projects.queries.ts'

export type Onboarding = {
  steps: { project_created: boolean; sdk_installed: boolean; first_event: boolean; team_invited: boolean }
  completed: boolean
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
  return { steps, completed: Object.values(steps).every(Boolean) }
}
