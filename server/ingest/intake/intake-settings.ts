import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { intakeFields } from './intake-settings.api.ts'

export const intakeSettings = storedSettings({ allowed_origins: intakeFields.allowed_origins.catch([]) })
