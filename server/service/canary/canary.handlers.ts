import type { Handlers } from '../../platform/context/handlers.ts'
import type { canaryRoutes } from './canary.api.ts'
import { readCanary } from './create-canary.ts'

export const canaryHandlers: Handlers<typeof canaryRoutes> = {
  readCanary: (app) => readCanary(app),
}
