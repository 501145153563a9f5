import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { healthFields } from './health-settings.api.ts'

export const healthSettings = storedSettings({
  unhandled_is_crash: healthFields.unhandled_is_crash.catch(false),
  request_p95_limit_ms: healthFields.request_p95_limit_ms.catch(null),
  request_failure_limit: healthFields.request_failure_limit.catch(null),
})
