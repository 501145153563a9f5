import { storedSettings } from '../projects/stored-settings.ts'
import { limitFields } from './limit-settings.api.ts'

export const limitSettings = storedSettings({
  rate_limit_per_minute: limitFields.rate_limit_per_minute.catch(null),
  spike_protection: limitFields.spike_protection.catch(true),
})
