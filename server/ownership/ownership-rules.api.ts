import { z } from 'zod'
import { MAX_GLOB_CHARACTERS } from '../kernel/glob.ts'
import { Id } from '../kernel/page.api.ts'

/** Who owns what: new issues go to the member, or carry the team's word, of the last rule that matches. */

export const MAX_OWNERSHIP_RULES = 200

/** What a rule asks of an event; beside these `tag.<key>`. */
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
      .describe('`*` stands for any characters, everything else for itself; case does not matter.'),
    user_id: Id.nullable().default(null).describe('The member who gets new issues.'),
    team: z
      .string({ error: 'team must be a string.' })
      .trim()
      .min(1, { error: 'team must not be empty.' })
      .max(60, { error: 'team takes at most 60 characters.' })
      .regex(/^[^\p{C}]*$/u, { error: 'team must not hold control characters.' })
      .nullable()
      .default(null)
      .describe('A word that stands on the issue where no member is meant.'),
  })
  .refine((rule) => (rule.user_id === null) !== (rule.team === null), {
    error: 'Name either user_id or team, not both.',
  })
export type OwnershipRule = z.output<typeof OwnershipRule>

/** In order: of the rules that match, the last one decides. */
export const OwnershipRules = z
  .array(OwnershipRule)
  .max(MAX_OWNERSHIP_RULES, { error: `ownership_rules takes at most ${MAX_OWNERSHIP_RULES} rules.` })

export const ownershipFields = {
  ownership_rules: OwnershipRules.describe(
    'Who gets new issues: of the rules that match, the last one decides. The list replaces the one before.',
  ),
}
