import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { criticalPathFields } from './critical-paths.api.ts'

export const criticalPathSettings = storedSettings({ critical_paths: criticalPathFields.critical_paths.catch([]) })
