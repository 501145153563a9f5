import { z } from 'zod'
import { MAX_PATTERN_CHARACTERS } from '#shared/limits.ts'

/** The pattern that a rule searches in the values of its path; `anything` is the whole value, `custom` its `regex`. */
export const SCRUB_PATTERNS = [
  'anything',
  'email',
  'ip_address',
  'credit_card',
  'iban',
  'ssn',
  'bearer',
  'phone',
  'uuid',
  'custom',
] as const
export const SCRUB_ACTIONS = ['replace', 'hash', 'remove'] as const

export const MAX_SCRUB_RULES = 50
const MAX_SEGMENTS = 16

/** Why a path is invalid; null when it is valid. */
function pathProblem(path: string): string | null {
  const segments = path.split('.')
  if (segments.some((segment) => segment === '')) return 'path must not start or end with a dot, or have two in a row.'
  if (segments.length > MAX_SEGMENTS) return `path takes at most ${MAX_SEGMENTS} names.`
  if (/[\u0000-\u001f]/.test(path)) return 'path must not hold control characters.'
  if (segments.some((segment) => segment.includes('**') && segment !== '**'))
    return 'path takes ** as a name of its own only, such as extra.**.'
  return null
}

export const ScrubRule = z
  .strictObject({
    path: z
      .string()
      .trim()
      .min(1, { error: 'path must not be empty.' })
      .max(200, { error: 'path must be at most 200 characters.' })
      .describe('Names from the top of the event, such as user.email or request.headers.x-*; ** is any depth.'),
    pattern: z.enum(SCRUB_PATTERNS, { error: `pattern must be one of ${SCRUB_PATTERNS.join(', ')}.` }),
    regex: z
      .string()
      .min(1)
      .max(MAX_PATTERN_CHARACTERS)
      .nullable()
      .default(null)
      .describe('With pattern custom: an expression in RE2 syntax; null with every other.'),
    action: z.enum(SCRUB_ACTIONS, { error: `action must be one of ${SCRUB_ACTIONS.join(', ')}.` }),
  })
  .superRefine((rule, context) => {
    const say = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    const problem = pathProblem(rule.path)
    if (problem !== null) say('path', problem)
    if (rule.pattern === 'anything' && /^[*.]+$/.test(rule.path))
      say('path', 'path must hold a name when pattern is anything: it would empty the event.')
    if (rule.pattern === 'custom') {
      if (rule.regex === null) say('regex', 'regex is missing: pattern custom needs one.')
    } else if (rule.regex !== null) say('regex', 'regex goes with pattern custom only.')
  })
export type ScrubRule = z.output<typeof ScrubRule>

export const ScrubRuleList = z
  .array(ScrubRule)
  .max(MAX_SCRUB_RULES, { error: `scrub_rules takes at most ${MAX_SCRUB_RULES} rules.` })
