import type { OrgActor } from '../../platform/context/actor.ts'

/** The ids that a fact about a release of the actor's organisation names. */
export const aboutRelease = (actor: OrgActor, release: { readonly id: string; readonly project_id: string }) => ({
  orgId: actor.orgId,
  projectId: release.project_id,
  releaseId: release.id,
})
