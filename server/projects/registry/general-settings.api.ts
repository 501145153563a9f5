import { z } from 'zod'

export const generalFields = {
  default_environment: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[^\n\r/]+$/, { error: 'default_environment must not contain a slash or a line break.' }),
  retention_days: z.number().int().min(1).max(400),
}
