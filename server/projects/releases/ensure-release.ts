import { recordFacts } from '../../history/facts/record-facts.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { insertPlanned } from './releases.queries.ts'
import type { OrgActor, FactContext } from '../../platform/context/actor.ts'

/** Creates a planned release unless the version exists (docs/issues.md). */
export async function ensureRelease(tx: Tx, context: FactContext, projectId: string, version: string): Promise<void> {
  const id = newId()
  const made = await insertPlanned(tx, { id, project_id: projectId, version, created_at: context.at })
  if (made !== null)
    await recordFacts(tx, context, [
      { kind: 'release.created', orgId: made.orgId, projectId, releaseId: id, data: { version, automatic: false } },
    ])
}

/** The ids that a fact about a release of the actor's organisation names. */
export const aboutRelease = (actor: OrgActor, release: { readonly id: string; readonly project_id: string }) => ({
  orgId: actor.orgId,
  projectId: release.project_id,
  releaseId: release.id,
})
