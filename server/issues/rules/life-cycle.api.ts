import { z } from 'zod'
import { timeInput } from '../../platform/kernel/page.api.ts'
import { releaseName } from '../../projects/releases/releases.api.ts'

/** How issues are resolved and ignored. */

/** Maximum of releases in one resolution. */
const MAX_FIXES = 20

const RELEASE_RULE =
  'resolution.in_release takes a version of 1 to 200 characters without tab, line break or other control character; not ".", ".." or "latest".'
const ReleaseName = releaseName(RELEASE_RULE)

const isTrue = (name: string) => z.literal(true, { error: `${name} must be true.` })

/** A stored resolution. It has no limits, so that responses can contain everything that was once accepted. */
export const Resolution = z.union([
  z.object({ now: z.literal(true) }),
  z.object({ in_release: z.union([z.string(), z.array(z.string())]) }),
  z.object({ in_next_release: z.literal(true) }),
  z.object({ in_commit: z.string() }),
])
export type Resolution = z.infer<typeof Resolution>

const FORMS =
  'resolution is one of {"now": true}, {"in_release": "<version>"}, {"in_next_release": true}, {"in_commit": "<sha>"}.'

/** One of the four forms. One object instead of a union, so that an error names the field. */
export const ResolutionInput = z
  .strictObject(
    {
      now: isTrue('resolution.now').optional(),
      in_release: z
        .union(
          [
            ReleaseName,
            z
              .array(ReleaseName)
              .min(1)
              .max(MAX_FIXES)
              .describe('A release of each branch that has the fix, such as 2.3.1 and 3.0.2.'),
          ],
          { error: RELEASE_RULE },
        )
        .optional(),
      in_next_release: isTrue('resolution.in_next_release').optional(),
      in_commit: z
        .string({ error: 'resolution.in_commit must be a string.' })
        .trim()
        .regex(/^[0-9a-f]{7,64}$/i, { error: 'resolution.in_commit takes 7 to 64 hex digits.' })
        .toLowerCase()
        .optional(),
    },
    { error: FORMS },
  )
  .refine((forms) => Object.values(forms).filter((form) => form !== undefined).length === 1, { error: FORMS })
export type ResolutionInput = z.output<typeof ResolutionInput>

const MAX_COUNT = 1_000_000_000
const MAX_WINDOW_MINUTES = 7 * 24 * 60

const whole = (name: string, max: number) =>
  z
    .int({ error: `ignore_until.${name} must be a whole number.` })
    .min(1, { error: `ignore_until.${name} must be at least 1.` })
    .max(max, { error: `ignore_until.${name} must be at most ${max.toLocaleString('en-GB')}.` })

export const IgnoreUntil = z.object({
  time: z.string().optional(),
  count: z.number().int().optional().describe('Number of further events.'),
  users: z.number().int().optional().describe('Number of further users who were not affected before.'),
  window: z.number().int().optional().describe('Minutes within which count or users must be reached.'),
  escalating: z.literal(true).optional().describe('Until the escalating rule of the project is true.'),
})
export type IgnoreUntil = z.infer<typeof IgnoreUntil>

export const IgnoreUntilInput = z
  .strictObject(
    {
      time: timeInput('ignore_until.time')
        .transform((text) => new Date(text).toISOString())
        .optional()
        .describe('In the future.'),
      count: whole('count', MAX_COUNT).optional(),
      users: whole('users', MAX_COUNT).optional(),
      window: whole('window', MAX_WINDOW_MINUTES).optional(),
      escalating: isTrue('ignore_until.escalating').optional(),
    },
    { error: 'ignore_until takes time, count, users, window and escalating.' },
  )
  .refine(({ time, count, users, escalating }) => [time, count, users, escalating].some((one) => one !== undefined), {
    error:
      'ignore_until must contain at least one of time, count, users, escalating; omit it to ignore the issue permanently.',
  })
  .refine(({ window, count, users }) => window === undefined || count !== undefined || users !== undefined, {
    error: 'ignore_until.window needs count or users.',
    path: ['window'],
  })
export type IgnoreUntilInput = z.output<typeof IgnoreUntilInput>
