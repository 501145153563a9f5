import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { generalFields } from './general-settings.api.ts'
import { storedSettings } from './stored-settings.ts'

export const generalSettings = storedSettings({
  default_environment: generalFields.default_environment.catch('production'),
  retention_days: generalFields.retention_days.catch(90),
})

/**
 * Returns the first day of a project's retention. Older data is hidden before it is deleted.
 * @param stored `projects.settings`
 */
export const oldestDay = (stored: unknown, now: Date): string =>
  dayPlus(utcDay(now), -generalSettings(stored).retention_days)
