import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { readOnboardingFacts } from './projects.queries.ts'

export type Onboarding = {
  steps: { project_created: boolean; sdk_installed: boolean; first_event: boolean; team_invited: boolean }
  completed: boolean
}

/** Steps are judged from what is there, never from what was clicked. */
export async function readOnboarding(app: App, actor: OrgActor): Promise<Onboarding> {
  const facts = await readOnboardingFacts(app.db, actor.orgId)
  const steps = {
    project_created: facts.projects,
    sdk_installed: facts.requests,
    first_event: facts.events,
    // There are no invites yet, so nobody was invited.
    team_invited: false,
  }
  return { steps, completed: Object.values(steps).every(Boolean) }
}
