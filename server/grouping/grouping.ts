import type { Event } from '../protocol/event.api.ts'
import {
  LATEST_GROUPING_VERSION,
  type FingerprintRule,
  type GroupingRules,
  type StackRule,
} from './grouping-rules.api.ts'
import { compileFingerprintRules, type RuleAnswer } from './fingerprint-rules.ts'
import { compileStackRules } from './frame-rules.ts'
import type { GroupingPart } from './grouping.api.ts'
import { groupingVersions, type GroupingVersion } from './registry.ts'

export type Grouping = {
  version: number
  /** SHA-256, 32 bytes. */
  hash: Buffer
  parts: GroupingPart[]
}

/**
 * Why two events are one issue: equal hashes under one version. The parts say what the hash was made of.
 * Throws a RangeError for a version that never existed; never for anything in the event.
 */
export function fingerprint(event: Event, options: { version?: number } = {}): Grouping {
  const version = options.version ?? LATEST_GROUPING_VERSION
  return { version, ...versionOf(version)(event, null) }
}

/** A version this program does not know was set by a newer one: events must go on meeting, if for other reasons. */
export const knownVersion = (version: number): number =>
  groupingVersions.has(version) ? version : LATEST_GROUPING_VERSION

function versionOf(version: number): GroupingVersion {
  const group = groupingVersions.get(version)
  if (group === undefined) throw new RangeError(`There is no grouping version ${version}.`)
  return group
}

/** How a project groups: its version, its rules, and the version before while it moves from that one. */
export type GroupingSettings = {
  readonly grouping_version: number
  readonly grouping_rules: GroupingRules
  readonly grouping_transition: { readonly from: number; readonly until: string } | null
}

/** An event with everything its project says about it. */
export type Grouped = {
  /** As it came, or with frames as the stack rules mark them. */
  readonly event: Event
  readonly fingerprint: Grouping
  /** Under the version before, while the project moves; null else. */
  readonly former: Grouping | null
  /** What a rule calls the issue; null where none does. */
  readonly title: string | null
  /** Which rules had a say. */
  readonly rules: { readonly fingerprint: FingerprintRule | null; readonly stack: readonly StackRule[] }
}

export type ProjectGrouping = (event: Event, now: Date) => Grouped

const NO_RULES: Grouped['rules'] = { fingerprint: null, stack: [] }

/** Compile once per change of the settings. A project without rules pays nothing for them. */
export function compileGrouping(settings: GroupingSettings): ProjectGrouping {
  const version = knownVersion(settings.grouping_version)
  const group = versionOf(version)
  const { grouping_transition: transition } = settings
  const before = transition === null ? undefined : groupingVersions.get(transition.from)
  const untilMs = transition === null ? 0 : Date.parse(transition.until)
  const mark = compileStackRules(settings.grouping_rules.stack)
  const ask = compileFingerprintRules(settings.grouping_rules.fingerprint)
  return (event, now) => {
    const inTransition = before !== undefined && transition !== null && now.getTime() < untilMs
    if (mark === null && ask === null)
      return {
        event,
        fingerprint: { version, ...group(event, null) },
        former: inTransition ? { version: transition.from, ...before(event, null) } : null,
        title: null,
        rules: NO_RULES,
      }
    const marked = mark === null ? { event, grouped: event, applied: [] } : mark(event)
    // The SDK's own fingerprint comes before any rule.
    const answer = event.fingerprint === null ? (ask?.(marked.event) ?? null) : null
    const elements = answer?.elements ?? null
    const { hash, parts } = group(marked.grouped, elements)
    return {
      event: marked.event,
      fingerprint: { version, hash, parts: [...parts, ...explanations(answer, marked.applied)] },
      former: inTransition ? { version: transition.from, ...before(marked.grouped, elements) } : null,
      title: answer?.title ?? null,
      rules: { fingerprint: answer?.rule ?? null, stack: marked.applied },
    }
  }
}

/** An event as people read it: frames are of the app, or not, as the project says now. */
export function markFrames(event: Event, rules: GroupingRules): Event {
  return compileStackRules(rules.stack)?.(event).event ?? event
}

/** Which rules had a say; beside the parts, not among what the hash is made of. */
function explanations(answer: RuleAnswer | null, applied: readonly StackRule[]): GroupingPart[] {
  const byRule = answer === null ? [] : [{ label: 'matched', value: matchText(answer.rule.match) }]
  const byStack = applied.map(({ match, action }) => ({ label: action, value: matchText(match) }))
  return [
    ...(byRule.length === 0 ? [] : [{ variant: 'rule', values: byRule }]),
    ...(byStack.length === 0 ? [] : [{ variant: 'stack_rule', values: byStack }]),
  ]
}

/** `type:PaymentError -module:com.acme.*`, as people write it. */
const matchText = (match: FingerprintRule['match']): string =>
  match
    .map(({ key, glob, not }) => `${not ? '-' : ''}${key}:${/\s/.test(glob) ? JSON.stringify(glob) : glob}`)
    .join(' ')
