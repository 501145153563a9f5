import { isEnvironmentName } from '#shared/release-name.ts'
import { z } from 'zod'

export const generalFields = {
  default_environment: z.string().min(1).max(64).refine(isEnvironmentName, {
    error: 'default_environment must not contain a line break or other control character and must not be "None".',
  }),
  retention_days: z.number().int().min(1).max(400),
}
