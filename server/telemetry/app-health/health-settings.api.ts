import { z } from 'zod'
import { MAX_REQUEST_LIMIT_MS } from '#shared/limits.ts'

export const healthFields = {
  unhandled_is_crash: z
    .boolean({ error: 'unhandled_is_crash must be true or false.' })
    .describe(
      'Whether a session with an unhandled error counts as crashed. Newer JavaScript SDKs report `unhandled` instead of `crashed`.',
    ),
  request_p95_limit_ms: z
    .int({ error: 'request_p95_limit_ms must be a whole number of milliseconds.' })
    .min(1, { error: 'request_p95_limit_ms must be at least 1.' })
    .max(MAX_REQUEST_LIMIT_MS, { error: `request_p95_limit_ms must be at most ${MAX_REQUEST_LIMIT_MS}.` })
    .nullable()
    .describe(
      'From this P95 in milliseconds on the requests of a server are poor, from four fifths of it on they are watched; null for none.',
    ),
  request_failure_limit: z
    .number({ error: 'request_failure_limit must be a number.' })
    .gt(0, { error: 'request_failure_limit must be above 0.' })
    .max(1, { error: 'request_failure_limit must be at most 1.' })
    .nullable()
    .describe(
      'From this share of failed requests on a server is poor, from four fifths of it on it is watched: 0.01 is 1 %; null for none.',
    ),
}
