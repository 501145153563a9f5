import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { crashFields } from './crash-settings.api.ts'

export const crashSettings = storedSettings({ unhandled_is_crash: crashFields.unhandled_is_crash.catch(false) })
