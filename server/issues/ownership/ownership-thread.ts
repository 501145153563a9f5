import { markFrames } from '../grouping/grouping.ts'
import type { GroupingRules } from '../grouping/grouping-rules.api.ts'
import { servePreview } from '../issue-events/serve-preview.ts'
import type { OwnershipRule } from './ownership-rules.api.ts'
import { compileOwnership } from './ownership.ts'

/** Body of a thread that matches stored events with proposed ownership rules. */

export type OwnershipStart = { readonly rules: readonly OwnershipRule[]; readonly groupingRules: GroupingRules }

/** The index of a matching rule, and the text that it matched. */
type IndexedMatch = { readonly rule: number; readonly text: string }

/** By issue, in the order of the matches. */
export type OwnershipMatches = ReadonlyMap<string, readonly IndexedMatch[]>

servePreview<OwnershipStart, OwnershipMatches>(({ rules, groupingRules }) => {
  const matcher = compileOwnership(rules)
  const matches = new Map<string, readonly IndexedMatch[]>()
  return {
    visit(event, _stored, issueId) {
      // Stack rules decide which frames are in-app.
      const found = matcher?.(markFrames(event, groupingRules))() ?? []
      matches.set(
        issueId,
        found.map(({ rule, text }) => ({ rule: rules.indexOf(rule), text: text.slice(0, 300) })),
      )
    },
    result: () => matches,
  }
})
