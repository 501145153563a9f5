import { storedSettings } from '../projects/stored-settings.ts'
import { ownershipFields } from './ownership-rules.api.ts'

export const ownershipSettings = storedSettings({ ownership_rules: ownershipFields.ownership_rules.catch([]) })
