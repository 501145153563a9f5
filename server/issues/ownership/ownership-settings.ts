import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { ownershipFields } from './ownership-rules.api.ts'

export const ownershipSettings = storedSettings({ ownership_rules: ownershipFields.ownership_rules.catch([]) })
