import type { Event, Frame } from '../../events/protocol/event.api.ts'
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
import { cleanFunction } from './v3-names.ts'

export type Grouping = {
  version: number
  /** SHA-256, 32 bytes. */
  hash: Buffer
  parts: GroupingPart[]
}

/**
 * Computes the fingerprint of an event under a version, with its parts.
 * @throws RangeError for an unknown version; never for the contents of an event
 */
export function fingerprint(event: Event, options: { version?: number } = {}): Grouping {
  const version = options.version ?? LATEST_GROUPING_VERSION
  return { version, ...versionOf(version)(event, null) }
}

/** The version to use. An unknown one was set by a newer program; then events are grouped by the newest known version. */
export const knownVersion = (version: number): number =>
  groupingVersions.has(version) ? version : LATEST_GROUPING_VERSION

function versionOf(version: number): GroupingVersion {
  const group = groupingVersions.get(version)
  if (group === undefined) throw new RangeError(`There is no grouping version ${version}.`)
  return group
}

/** The grouping of a project: its version, its rules, and the earlier version during a change. */
export type GroupingSettings = {
  readonly grouping_version: number
  readonly grouping_rules: GroupingRules
  readonly grouping_transition: { readonly from: number; readonly until: string } | null
}

/** An event, grouped by the settings of its project. */
export type Grouped = {
  /** With the frames as marked by stack rules. */
  readonly event: Event
  readonly fingerprint: Grouping
  /** Under the earlier version during a change; else null. */
  readonly former: Grouping | null
  /** The title that a rule gives the issue; else null. */
  readonly title: string | null
  /** The rules that matched. */
  readonly rules: { readonly fingerprint: FingerprintRule | null; readonly stack: readonly StackRule[] }
}

export type ProjectGrouping = (event: Event, now: Date) => Grouped

const NO_RULES: Grouped['rules'] = { fingerprint: null, stack: [] }

/** Compiles the settings; call it once per change of them. */
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
    // The SDK's fingerprint takes precedence over rules.
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

/**
 * Whether a version may group a frame by its line of source: the function has no name that lasts. Version 2 knows more names
 * than version 3.
 */
export const isGroupedByLine = ({ function: name }: Pick<Frame, 'function'>, platform: string): boolean =>
  name === null || cleanFunction(name, platform) === null

/** An event for display, with frames marked by the present stack rules. */
export function markFrames(event: Event, rules: GroupingRules): Event {
  return compileStackRules(rules.stack)?.(event).event ?? event
}

/** The rules that matched, for the parts; they are not part of the hash. */
function explanations(answer: RuleAnswer | null, applied: readonly StackRule[]): GroupingPart[] {
  const byRule = answer === null ? [] : [{ label: 'matched', value: matchText(answer.rule.match) }]
  const byStack = applied.map(({ match, action }) => ({ label: action, value: matchText(match) }))
  return [
    ...(byRule.length === 0 ? [] : [{ variant: 'rule', values: byRule }]),
    ...(byStack.length === 0 ? [] : [{ variant: 'stack_rule', values: byStack }]),
  ]
}

/** A rule as text: `type:PaymentError -module:com.acme.*`. */
const matchText = (match: FingerprintRule['match']): string =>
  match
    .map(({ key, glob, not }) => `${not ? '-' : ''}${key}:${/\s/.test(glob) ? JSON.stringify(glob) : glob}`)
    .join(' ')
