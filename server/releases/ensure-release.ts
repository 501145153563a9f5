import type { FactContext } from '../context/fact-context.ts'
import { recordFacts } from '../facts/record-facts.ts'
import { newId } from '../kernel/ids.ts'
import type { Tx } from '../storage/database.ts'
import { insertPlanned } from './releases.queries.ts'

/** Creates a planned release unless the version exists (docs/issues.md). */
export async function ensureRelease(tx: Tx, context: FactContext, projectId: string, version: string): Promise<void> {
  const id = newId()
  const made = await insertPlanned(tx, { id, project_id: projectId, version, created_at: context.at })
  if (made !== null)
    await recordFacts(tx, context, [
      { kind: 'release.created', orgId: made.orgId, projectId, releaseId: id, data: { version, automatic: false } },
    ])
}
