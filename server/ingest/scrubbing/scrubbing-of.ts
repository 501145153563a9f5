import type { App } from '../../platform/context/app.ts'
import { openScrubKey } from './scrub-key.ts'
import type { ScrubSettings } from './scrub-settings.ts'
import type { ScrubRule } from '../../events/protocol/scrub-rules.api.ts'

/** A project's settings in the form of the scrubber (events/protocol/scrub-keys.ts). */
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
