import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { limitFields } from './limit-settings.api.ts'

export const limitSettings = storedSettings({
  rate_limit_per_minute: limitFields.rate_limit_per_minute.catch(null),
  new_issues_per_hour: limitFields.new_issues_per_hour.catch(5_000),
  new_issues_per_day: limitFields.new_issues_per_day.catch(20_000),
  spike_protection: limitFields.spike_protection.catch(true),
})
