import { z } from 'zod'

export const intakeFields = {
  allowed_origins: z
    .array(z.string().min(1).max(200))
    .max(50)
    .describe('Browser origins that may send events; empty allows all.'),
}
