import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { attachmentFields } from './attachment-settings.api.ts'

export const attachmentSettings = storedSettings({
  store_profiles: attachmentFields.store_profiles.catch(false),
  store_replays: attachmentFields.store_replays.catch(false),
})
