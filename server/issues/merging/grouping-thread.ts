import { compileGrouping } from '../grouping/grouping.ts'
import type { GroupingRules } from '../grouping/grouping-rules.api.ts'
import { servePreview } from '../issue-events/serve-preview.ts'
import { Regrouping, type Regrouped } from './regrouping.ts'

/** Body of a thread that groups stored events by saved and by proposed settings. */

type Settings = { readonly grouping_version: number; readonly grouping_rules: GroupingRules }

export type GroupingStart = { readonly saved: Settings; readonly proposed: Settings; readonly now: Date }

servePreview<GroupingStart, Regrouped>(({ saved, proposed, now }) => {
  const groupNow = compileGrouping({ ...saved, grouping_transition: null })
  const groupThen = compileGrouping({ ...proposed, grouping_transition: null })
  const regrouping = new Regrouping(proposed.grouping_rules)
  return {
    visit: (event, { eventId }, issueId) =>
      regrouping.add({ issueId, eventId }, groupNow(event, now), groupThen(event, now)),
    result: () => regrouping.result(),
  }
})
