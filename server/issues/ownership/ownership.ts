import { compileGlob, type Glob } from '../../platform/kernel/glob.ts'
import type { Event, Frame } from '../../events/protocol/event.api.ts'
import { leadingStack } from '../../events/protocol/labels.ts'
import type { OwnershipRule } from './ownership-rules.api.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { membersAmong } from '../../identity/team/members.queries.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** Matches events with the ownership rules of a project. Pure. */

/** A matching rule, and the text that it matched. */
type RuleMatch = { readonly rule: OwnershipRule; readonly text: string }

/** Computes the matches of an event, last rule first. Called only if the event creates an issue. */
export type LazyMatches = () => readonly RuleMatch[]

export type OwnershipMatcher = (event: Event) => LazyMatches

/** Only this many innermost frames are matched, to limit the cost of a new issue. */
const MAX_FRAMES = 50
/** Maximum of matches to find one whose member is still active. */
const MAX_MATCHES = 10

type Compiled = { readonly rule: OwnershipRule; readonly matches: Glob }

/** Returns null if there are no rules. */
export function compileOwnership(rules: readonly OwnershipRule[]): OwnershipMatcher | null {
  if (rules.length === 0) return null
  // The last rule decides, so it is matched first.
  const compiled = rules.map((rule) => ({ rule, matches: globOf(rule) })).reverse()
  const keys = new Set(rules.map(({ match }) => match))
  return (event) => {
    // Keeps the texts, not the event, which would stay in memory until its batch is written.
    const texts = new Map([...keys].map((key) => [key, textsOf(event, key)]))
    return () => matchesOf(compiled, texts)
  }
}

function matchesOf(compiled: readonly Compiled[], texts: ReadonlyMap<string, readonly string[]>): RuleMatch[] {
  const found: RuleMatch[] = []
  for (const { rule, matches } of compiled) {
    const text = texts.get(rule.match)?.find(matches)
    if (text === undefined) continue
    found.push({ rule, text })
    // A rule with a team always decides.
    if (rule.team !== null || found.length === MAX_MATCHES) break
  }
  return found
}

/**
 * As in CODEOWNERS files: a path without a leading slash or star matches in any folder, and one with a trailing slash
 * matches everything below it.
 */
function globOf({ match, glob }: OwnershipRule): Glob {
  if (match !== 'path') return compileGlob(glob)
  const path = glob.replaceAll('\\', '/').replace(/\/$/, '/*')
  return compileGlob(path.startsWith('/') || path.startsWith('*') ? path : `*/${path}`)
}

function textsOf(event: Event, key: string): readonly string[] {
  switch (key) {
    case 'path':
      return [...new Set(framesOf(event).flatMap(({ filename, abs_path: path }) => [filename, path]))].flatMap((path) =>
        path === null || path === '' ? [] : [rooted(path)],
      )
    case 'module':
      return [...new Set(framesOf(event).flatMap(({ module }) => module ?? []))]
    case 'url':
      return event.request?.url == null ? [] : [event.request.url]
    default:
      return event.tags.filter((tag) => `tag.${tag.key}` === key).map((tag) => tag.value)
  }
}

function rooted(path: string): string {
  const slashed = path.replaceAll('\\', '/')
  return slashed.startsWith('/') ? slashed : `/${slashed}`
}

/** Returns in-app frames, innermost first, or all frames if none is in-app. */
function framesOf(event: Event): readonly Frame[] {
  const ofErrors = event.exceptions.flatMap(({ stacktrace }) => stacktrace?.frames ?? [])
  const frames = ofErrors.length > 0 ? ofErrors : (leadingStack(event.exceptions, event.threads)?.frames ?? [])
  const own = frames.filter((frame) => frame.in_app)
  return (own.length > 0 ? own : frames).slice(-MAX_FRAMES).reverse()
}

/** Returns `path src/checkout/*`, the name of a rule in sentences. */
export const ruleLabel = ({ match, glob }: OwnershipRule): string => `${match} ${glob}`

/** Returns the first match whose rule names a team or a current member. Pure. */
export const decidingMatch = (matches: readonly RuleMatch[], members: ReadonlyMap<string, unknown>): RuleMatch | null =>
  matches.find(({ rule }) => rule.team !== null || (rule.user_id !== null && members.has(rule.user_id))) ?? null

/**
 * Checks that every user in the rules is a member. Former members in the rules `before` may stay, so that other rules
 * can be saved; their rules are skipped.
 * @throws AppError invalid, naming the first invalid rule
 */
export async function checkOwnershipRules(
  db: Connection,
  orgId: string,
  rules: readonly OwnershipRule[],
  before: readonly OwnershipRule[] = [],
): Promise<void> {
  const known = new Set(before.map((rule) => rule.user_id))
  const added = [...new Set(rules.flatMap(({ user_id: id }) => (id === null || known.has(id) ? [] : [id])))]
  const members = await membersAmong(db, orgId, added)
  for (const [index, { user_id: id }] of rules.entries())
    if (id !== null && !known.has(id) && !members.has(id))
      throw invalid(`ownership_rules.${index}.user_id is not a member of this organisation.`)
}
