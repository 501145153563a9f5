import { randomBytes } from 'node:crypto'
import { orgSealer } from '../auth/org-sealer.ts'
import type { App } from '../context/app.ts'
import type { Connection } from '../storage/database.ts'

/** The key of hashes by scrubbing, one per project: hashes of two projects cannot be compared. */

const placeOf = (orgId: string, projectId: string): string => `projects:scrub_key_sealed:${projectId}:${orgId}`

/** A new key, sealed for its row. @param db the transaction, when there is one */
export async function sealedNewScrubKey(app: App, orgId: string, projectId: string, db: Connection): Promise<string> {
  return (await orgSealer(app, orgId, db)).seal(randomBytes(32), placeOf(orgId, projectId))
}

/** @throws Error when it was sealed with an unknown key */
export async function openScrubKey(app: App, orgId: string, projectId: string, sealed: string): Promise<Buffer> {
  return (await orgSealer(app, orgId)).open(sealed, placeOf(orgId, projectId))
}
