import { compileGlob, type Glob } from '../kernel/glob.ts'
import type { Event, Frame } from '../protocol/event.api.ts'
import { leadingStack } from '../protocol/labels.ts'
import type { OwnershipRule } from './ownership-rules.api.ts'

/** Ownership rules of a project: who gets a new issue. Pure. */

/** A rule that matches, and the text it matched. */
export type OwnerCandidate = { readonly rule: OwnershipRule; readonly text: string }

/** Asked only where an event makes a new issue: later rules first, as they decide. */
export type OwnerQuestion = () => readonly OwnerCandidate[]

export type OwnershipBook = (event: Event) => OwnerQuestion

/** So many of the innermost frames are asked: what a new issue costs stays bounded. */
const MAX_FRAMES = 50
/** Whoever of these is still a member gets the issue. */
const MAX_CANDIDATES = 10

type Compiled = { readonly rule: OwnershipRule; readonly matches: Glob }

/** Null when there are no rules: nothing is asked of anything then. */
export function compileOwnership(rules: readonly OwnershipRule[]): OwnershipBook | null {
  if (rules.length === 0) return null
  // The last one decides, so it is asked first.
  const compiled = rules.map((rule) => ({ rule, matches: globOf(rule) })).reverse()
  const keys = new Set(rules.map(({ match }) => match))
  return (event) => {
    // Not the event itself, which would be kept until its batch is written.
    const texts = new Map([...keys].map((key) => [key, textsOf(event, key)]))
    return () => candidates(compiled, texts)
  }
}

function candidates(compiled: readonly Compiled[], texts: ReadonlyMap<string, readonly string[]>): OwnerCandidate[] {
  const found: OwnerCandidate[] = []
  for (const { rule, matches } of compiled) {
    const text = texts.get(rule.match)?.find(matches)
    if (text === undefined) continue
    found.push({ rule, text })
    // Nobody can leave a team's word.
    if (rule.team !== null || found.length === MAX_CANDIDATES) break
  }
  return found
}

/**
 * As in files of code owners: a path without a leading slash or star stands for itself in any folder, one that ends in a
 * slash for everything below.
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

/** Frames of the app, innermost first; all of them where none is marked as such. */
function framesOf(event: Event): readonly Frame[] {
  const ofErrors = event.exceptions.flatMap(({ stacktrace }) => stacktrace?.frames ?? [])
  const frames = ofErrors.length > 0 ? ofErrors : (leadingStack(event.exceptions, event.threads)?.frames ?? [])
  const own = frames.filter((frame) => frame.in_app)
  return (own.length > 0 ? own : frames).slice(-MAX_FRAMES).reverse()
}

/** `path src/checkout/*`, as sentences name a rule. */
export const ruleWords = ({ match, glob }: OwnershipRule): string => `${match} ${glob}`
