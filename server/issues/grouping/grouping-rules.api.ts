import { z } from 'zod'
import { MAX_GLOB_CHARACTERS } from '../../platform/kernel/glob.ts'

/** A project's rules for grouping. */

/** The version of projects without a stored one. Version 1 was never released. */
export const FIRST_GROUPING_VERSION = 2
/** The version of new projects; `issues/grouping/registry.ts` has all versions. */
export const LATEST_GROUPING_VERSION = 3

export const MAX_GROUPING_RULES = 100
const MAX_MATCHERS = 10
const MAX_ELEMENTS = 10
const MAX_ELEMENT_CHARACTERS = 200

/** Keys of matchers, in addition to `tag.<key>`. All matchers of a frame must match one frame. */
export const EVENT_MATCHERS = ['type', 'value', 'message', 'level', 'release'] as const
export const FRAME_MATCHERS = ['module', 'function', 'path', 'package'] as const
/** Variables in `{{ … }}`, in addition to `tag.<key>`. */
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
/** Matches a variable, in linear time because braces cannot nest. */
export const VARIABLE = /\{\{\s{0,20}([^{}\s]{1,80})\s{0,20}\}\}/g

const glob = z
  .string({ error: 'glob must be a string.' })
  .min(1, { error: 'glob must not be empty.' })
  .max(MAX_GLOB_CHARACTERS, { error: `glob takes at most ${MAX_GLOB_CHARACTERS} characters.` })
  .refine((text) => !text.includes('\0'), { error: 'glob must not hold control characters.' })
  .describe('`*` matches any characters; other characters match themselves, in upper and lower case.')

const oneOf = (known: readonly string[], word: string) =>
  z.string().refine((key) => known.includes(key), { error: `key must be one of ${known.join(', ')}${word}.` })

const matchersOf = <K extends z.ZodType<string>>(key: K) =>
  z
    .array(z.strictObject({ key, glob, not: z.boolean().default(false).describe('Matches events without a match.') }), {
      error: 'match must be a list of conditions.',
    })
    .min(1, { error: 'match must hold at least one entry.' })
    .max(MAX_MATCHERS, { error: `match takes at most ${MAX_MATCHERS} entries.` })

const EventKey = z
  .string()
  .refine((key) => [...EVENT_MATCHERS, ...FRAME_MATCHERS].some((known) => known === key) || TAG.test(key), {
    error: `key must be one of ${[...EVENT_MATCHERS, ...FRAME_MATCHERS].join(', ')} or tag.<key>.`,
  })

/** Why a text with variables is invalid; null when it is valid. */
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
    match: matchersOf(EventKey).describe('All must match.'),
    fingerprint: z
      .array(template('fingerprint', true), { error: 'fingerprint must be a list of texts.' })
      .min(1, { error: 'fingerprint must hold at least one element.' })
      .max(MAX_ELEMENTS, { error: `fingerprint takes at most ${MAX_ELEMENTS} elements.` })
      .describe('Events with the same fingerprint are one issue. {{ default }} is the fingerprint without rules.'),
    title: template('title', false)
      .nullable()
      .default(null)
      .describe('The title of the issue, instead of type and value; null keeps these.'),
  })
  // `tag.shop:*` with {{ tag.shop }} distinguishes shops; with a constant it would merge all of their events.
  .refine(
    ({ match, fingerprint }) => !match.every(matchesEverything) || fingerprint.some((text) => text.includes('{{')),
    {
      error: 'match has only *: then fingerprint must have a variable, or all events would be one issue.',
      path: ['fingerprint'],
    },
  )
export type FingerprintRule = z.output<typeof FingerprintRule>

export const StackRule = z.strictObject({
  match: matchersOf(oneOf(FRAME_MATCHERS, '')).describe('All must match a frame.'),
  action: z
    .enum(STACK_ACTIONS, { error: `action must be one of ${STACK_ACTIONS.join(', ')}.` })
    .describe('The frame is in-app, is not in-app, or is ignored by grouping.'),
})
export type StackRule = z.output<typeof StackRule>

const list = <T extends z.ZodType>(rule: T, name: string) =>
  z
    .array(rule, { error: `grouping_rules.${name} must be a list of rules, [] for none.` })
    .max(MAX_GROUPING_RULES, { error: `grouping_rules.${name} takes at most ${MAX_GROUPING_RULES} rules.` })

/** In both lists the first rule that matches applies. */
export const GroupingRules = z.strictObject({
  fingerprint: list(FingerprintRule, 'fingerprint').describe('Applied to events without a fingerprint from the SDK.'),
  stack: list(StackRule, 'stack').describe('Applied to every frame before grouping.'),
})
export type GroupingRules = z.output<typeof GroupingRules>

export const NO_GROUPING_RULES: GroupingRules = { fingerprint: [], stack: [] }

/**
 * A change of version in progress: until this time unknown fingerprints are looked up under the earlier version as
 * well.
 */
export const GroupingTransition = z.object({ from: z.number().int().min(1), until: z.iso.datetime() })

export const groupingFields = {
  grouping_rules: GroupingRules.describe('The grouping rules of the project; the lists replace the earlier ones.'),
}
