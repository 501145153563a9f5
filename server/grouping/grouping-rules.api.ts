import { z } from 'zod'
import { MAX_GLOB_CHARACTERS } from '../kernel/glob.ts'

/** How a project wants its events grouped where we would group them otherwise. */

/** What new projects get; `grouping/registry.ts` holds every version there has been. */
export const LATEST_GROUPING_VERSION = 2

export const MAX_GROUPING_RULES = 100
const MAX_MATCHERS = 10
const MAX_ELEMENTS = 10
const MAX_ELEMENT_CHARACTERS = 200

/** What an event is asked for; beside these `tag.<key>`. Those of a frame must all be true of one frame. */
export const EVENT_MATCHERS = ['type', 'value', 'message', 'level', 'release'] as const
export const FRAME_MATCHERS = ['module', 'function', 'path', 'package'] as const
/** What `{{ … }}` may name; beside these `tag.<key>`. */
export const RULE_VARIABLES = [
  'default',
  'type',
  'value',
  'message',
  'module',
  'function',
  'transaction',
  'level',
  'release',
  'environment',
  'platform',
  'logger',
] as const
export const STACK_ACTIONS = ['in_app', 'not_in_app', 'ignore'] as const

const TAG = /^tag\.[^\u0000-\u0020\u007f:{}]{1,64}$/
/** The name in a variable: linear, the braces cannot nest. */
export const VARIABLE = /\{\{\s{0,20}([^{}\s]{1,80})\s{0,20}\}\}/g

const glob = z
  .string({ error: 'glob must be a string.' })
  .min(1, { error: 'glob must not be empty.' })
  .max(MAX_GLOB_CHARACTERS, { error: `glob takes at most ${MAX_GLOB_CHARACTERS} characters.` })
  .refine((text) => !text.includes('\0'), { error: 'glob must not hold control characters.' })
  .describe('`*` stands for any characters, everything else for itself; case does not matter.')

const oneOf = (known: readonly string[], word: string) =>
  z.string().refine((key) => known.includes(key), { error: `key must be one of ${known.join(', ')}${word}.` })

const matchersOf = <K extends z.ZodType<string>>(key: K) =>
  z
    .array(z.strictObject({ key, glob, not: z.boolean().default(false).describe('True of none.') }), {
      error: 'match must be a list of conditions.',
    })
    .min(1, { error: 'match must hold at least one entry.' })
    .max(MAX_MATCHERS, { error: `match takes at most ${MAX_MATCHERS} entries.` })

const EventKey = z
  .string()
  .refine((key) => [...EVENT_MATCHERS, ...FRAME_MATCHERS].some((known) => known === key) || TAG.test(key), {
    error: `key must be one of ${[...EVENT_MATCHERS, ...FRAME_MATCHERS].join(', ')} or tag.<key>.`,
  })

/** Why a text with variables cannot be used; null when it can. */
function variableProblem(text: string, withDefault: boolean): string | null {
  for (const [whole, name = ''] of text.matchAll(VARIABLE)) {
    if (!RULE_VARIABLES.some((known) => known === name) && !TAG.test(name))
      return `{{ ${name} }} is no variable; known are ${RULE_VARIABLES.join(', ')} and tag.<key>.`
    if (name === 'default' && !withDefault) return 'a title cannot hold {{ default }}.'
    if (name === 'default' && text.trim() !== whole) return '{{ default }} must stand alone.'
  }
  return /\{\{|\}\}/.test(text.replaceAll(VARIABLE, '')) ? 'braces do not match: write {{ type }}.' : null
}

const template = (field: string, withDefault: boolean) =>
  z
    .string({ error: `${field} must be a string.` })
    .max(MAX_ELEMENT_CHARACTERS, { error: `${field} takes at most ${MAX_ELEMENT_CHARACTERS} characters.` })
    .superRefine((text, context) => {
      const problem = text.trim() === '' ? 'it is empty.' : variableProblem(text, withDefault)
      if (problem !== null) context.addIssue({ code: 'custom', message: `${field}: ${problem}` })
      if (text.includes('\0'))
        context.addIssue({ code: 'custom', message: `${field} must not hold control characters.` })
    })

const matchesEverything = ({ glob: text, not }: { glob: string; not: boolean }): boolean => !not && /^\*+$/.test(text)

export const FingerprintRule = z
  .strictObject({
    match: matchersOf(EventKey).describe('All must be true.'),
    fingerprint: z
      .array(template('fingerprint', true), { error: 'fingerprint must be a list of texts.' })
      .min(1, { error: 'fingerprint must hold at least one element.' })
      .max(MAX_ELEMENTS, { error: `fingerprint takes at most ${MAX_ELEMENTS} elements.` })
      .describe('Events of one fingerprint are one issue. {{ default }} is what we would have computed.'),
    title: template('title', false).nullable().default(null).describe('Names the issue in place of type and value.'),
  })
  // `tag.shop:*` with {{ tag.shop }} tells shops apart; with a mere word it would throw all they send together.
  .refine(
    ({ match, fingerprint }) => !match.every(matchesEverything) || fingerprint.some((text) => text.includes('{{')),
    {
      error: 'match holds nothing but *: then fingerprint must hold a variable, or everything would be one issue.',
      path: ['fingerprint'],
    },
  )
export type FingerprintRule = z.output<typeof FingerprintRule>

export const StackRule = z.strictObject({
  match: matchersOf(oneOf(FRAME_MATCHERS, '')).describe('All must be true of a frame.'),
  action: z
    .enum(STACK_ACTIONS, { error: `action must be one of ${STACK_ACTIONS.join(', ')}.` })
    .describe('The frame is of the app, is not, or does not count when events are grouped.'),
})
export type StackRule = z.output<typeof StackRule>

const list = <T extends z.ZodType>(rule: T, name: string) =>
  z
    .array(rule, { error: `grouping_rules.${name} must be a list of rules, [] for none.` })
    .max(MAX_GROUPING_RULES, { error: `grouping_rules.${name} takes at most ${MAX_GROUPING_RULES} rules.` })

/** In both lists the first rule that matches decides. */
export const GroupingRules = z.strictObject({
  fingerprint: list(FingerprintRule, 'fingerprint').describe('Asked where the SDK sent no fingerprint of its own.'),
  stack: list(StackRule, 'stack').describe('Asked of every frame before events are grouped.'),
})
export type GroupingRules = z.output<typeof GroupingRules>

export const NO_GROUPING_RULES: GroupingRules = { fingerprint: [], stack: [] }

/** A change of version under way: until then unknown fingerprints are looked up under the version before. */
export const GroupingTransition = z.object({ from: z.number().int().min(1), until: z.iso.datetime() })

export const groupingFields = {
  grouping_rules: GroupingRules.describe(
    'Rules of the project about what is one issue; the lists replace those before.',
  ),
}
