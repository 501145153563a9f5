import { z } from 'zod'

export const attachmentFields = {
  store_profiles: z.boolean(),
  store_replays: z.boolean(),
}
