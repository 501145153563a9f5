import { randomBytes } from 'node:crypto'
import { orgOpener, orgSealer } from '../../identity/auth/org-sealer.ts'
import type { App } from '../../platform/context/app.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'

/** The key of hashes by scrubbing, one per project: hashes of two projects cannot be compared. */

const placeOf = (orgId: string, projectId: string): string => `projects:scrub_key_sealed:${projectId}:${orgId}`

export const SCRUB_KEYS: OrgSealedColumn = {
  table: 'projects',
  column: 'scrub_key_sealed',
  keys: ['id'],
  placeOf: (orgId, projectId = '') => placeOf(orgId, projectId),
}

/** A new key, sealed for its row. */
export async function sealedNewScrubKey(app: App, orgId: string, projectId: string, tx: Tx): Promise<string> {
  return (await orgSealer(app, orgId, tx)).seal(randomBytes(32), placeOf(orgId, projectId))
}

/** @throws Error when it was sealed with an unknown key */
export async function openScrubKey(app: App, orgId: string, projectId: string, sealed: string): Promise<Buffer> {
  return (await orgOpener(app, orgId)).open(sealed, placeOf(orgId, projectId))
}
