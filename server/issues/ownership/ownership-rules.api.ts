import { z } from 'zod'
import { MAX_GLOB_CHARACTERS } from '../../platform/kernel/glob.ts'
import { Id } from '../../platform/kernel/page.api.ts'

/** Ownership rules: the last one that matches assigns a new issue to a member or a team. */

export const MAX_OWNERSHIP_RULES = 200

/** Values that a rule can match; also `tag.<key>`. */
export const OWNERSHIP_MATCHERS = ['path', 'module', 'url'] as const

const TAG = /^tag\.[^\u0000-\u0020\u007f:]{1,64}$/

export const OwnershipRule = z
  .strictObject({
    match: z
      .string({ error: 'match must be a string.' })
      .refine((key) => OWNERSHIP_MATCHERS.some((known) => known === key) || TAG.test(key), {
        error: `match must be one of ${OWNERSHIP_MATCHERS.join(', ')} or tag.<key>.`,
      })
      .describe('path and module of a frame, url of the request, or a tag.'),
    glob: z
      .string({ error: 'glob must be a string.' })
      .trim()
      .min(1, { error: 'glob must not be empty.' })
      .max(MAX_GLOB_CHARACTERS, { error: `glob takes at most ${MAX_GLOB_CHARACTERS} characters.` })
      .describe('`*` matches any characters. Case does not matter.'),
    user_id: Id.nullable().default(null).describe('The member to assign new issues to; null with a team.'),
    team: z
      .string({ error: 'team must be a string.' })
      .trim()
      .min(1, { error: 'team must not be empty.' })
      .max(60, { error: 'team takes at most 60 characters.' })
      .regex(/^[^\p{C}]*$/u, { error: 'team must not contain control characters.' })
      .nullable()
      .default(null)
      .describe('A team name, shown on the issue instead of a member; null with a member.'),
  })
  .refine((rule) => (rule.user_id === null) !== (rule.team === null), {
    error: 'Name either user_id or team, not both.',
  })
export type OwnershipRule = z.output<typeof OwnershipRule>

/** The last rule that matches decides. */
export const OwnershipRules = z
  .array(OwnershipRule)
  .max(MAX_OWNERSHIP_RULES, { error: `ownership_rules takes at most ${MAX_OWNERSHIP_RULES} rules.` })

export const ownershipFields = {
  ownership_rules: OwnershipRules.describe(
    'Rules that assign new issues: the last one that matches decides. The list replaces the stored one.',
  ),
}
