import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { scrubFields } from './scrub-settings.api.ts'

export const scrubSettings = storedSettings({
  scrub_ip_addresses: scrubFields.scrub_ip_addresses.catch(false),
  scrub_email_addresses: scrubFields.scrub_email_addresses.catch(false),
  scrub_fields: scrubFields.scrub_fields.catch([]),
  safe_fields: scrubFields.safe_fields.catch([]),
  scrub_rules: scrubFields.scrub_rules.catch([]),
})

export type ScrubSettings = ReturnType<typeof scrubSettings>
