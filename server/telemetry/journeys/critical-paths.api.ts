import { z } from 'zod'
import { MAX_CRITICAL_PATHS } from '#shared/limits.ts'
import { MAX_GLOB_CHARACTERS } from '../../platform/kernel/glob.ts'

/** Patterns differ when a letter does, in either case: matching ignores case. */
const isDistinct = (patterns: readonly string[]): boolean =>
  new Set(patterns.map((pattern) => pattern.toLowerCase())).size === patterns.length

const CriticalPath = z
  .string({ error: 'critical_paths must hold texts.' })
  .trim()
  .min(1, 'critical_paths: a pattern must not be empty.')
  .max(MAX_GLOB_CHARACTERS, `critical_paths: a pattern has at most ${MAX_GLOB_CHARACTERS} characters.`)
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'critical_paths: a pattern must not contain control characters.')

export const criticalPathFields = {
  critical_paths: z
    .array(CriticalPath, { error: 'critical_paths must be a list of patterns.' })
    .max(MAX_CRITICAL_PATHS, `critical_paths: at most ${MAX_CRITICAL_PATHS} patterns.`)
    .refine(isDistinct, 'critical_paths must not repeat a pattern.')
    .describe(
      'Journeys that alert rules of the trigger `critical_path` watch: names of transactions or screens, or values of tags. `*` matches any characters.',
    ),
}
