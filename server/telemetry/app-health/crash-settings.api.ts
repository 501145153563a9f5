import { z } from 'zod'

export const crashFields = {
  unhandled_is_crash: z
    .boolean({ error: 'unhandled_is_crash must be true or false.' })
    .describe(
      'Whether a session with an unhandled error counts as crashed. Newer JavaScript SDKs report `unhandled` instead of `crashed`.',
    ),
}
