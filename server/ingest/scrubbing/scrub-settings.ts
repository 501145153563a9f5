import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { scrubFields } from './scrub-settings.api.ts'
import { randomBytes } from 'node:crypto'
import { orgOpener, orgSealer } from '../../identity/auth/org-sealer.ts'
import type { App } from '../../platform/context/app.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'
import type { ScrubRule } from '../../events/protocol/scrub-rules.api.ts'

export const scrubSettings = storedSettings({
  scrub_ip_addresses: scrubFields.scrub_ip_addresses.catch(false),
  scrub_email_addresses: scrubFields.scrub_email_addresses.catch(false),
  scrub_fields: scrubFields.scrub_fields.catch([]),
  safe_fields: scrubFields.safe_fields.catch([]),
  scrub_rules: scrubFields.scrub_rules.catch([]),
})

export type ScrubSettings = ReturnType<typeof scrubSettings>

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

/** A project's settings in the form of the scrubber (events/protocol/scrub-text.ts). */
export type Scrubbing = {
  readonly sensitiveKeys: readonly string[]
  readonly safeKeys: readonly string[]
  readonly removeAddresses: boolean
  readonly removeEmails: boolean
  readonly rules: readonly ScrubRule[]
  readonly hashKey: Buffer | null
}

/** @throws Error when a rule hashes and the project's key cannot be opened: the value must not be stored instead */
export async function buildScrubbing(
  app: App,
  project: { readonly id: string; readonly org_id: string; readonly scrub_key_sealed: string | null },
  settings: ScrubSettings,
): Promise<Scrubbing> {
  const hashes = settings.scrub_rules.some(({ action }) => action === 'hash')
  const sealed = project.scrub_key_sealed
  return {
    sensitiveKeys: settings.scrub_fields,
    safeKeys: settings.safe_fields,
    removeAddresses: settings.scrub_ip_addresses,
    removeEmails: settings.scrub_email_addresses,
    rules: settings.scrub_rules,
    hashKey: hashes && sealed !== null ? await openScrubKey(app, project.org_id, project.id, sealed) : null,
  }
}
