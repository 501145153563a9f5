import type { ProjectSettings } from '../../../api/queries.ts'
import { Field } from '../../../ui/field.tsx'
import { Minor } from '../../../ui/text.tsx'
import { issueRulesTexts } from './issue-rules-texts.ts'
import { FormCard, useSettingsDraft } from './form.tsx'
import { brokenBounds, toIssueRuleDraft, RULE_FIELDS, toIssueRules, type RuleField } from './issue-rules-model.ts'

/** The settings of severity and escalation. */
export function IssueRulesForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const { draft, set, form } = useSettingsDraft(project, {
    draftOf: toIssueRuleDraft,
    patchOf: toIssueRules,
    isWhole: (rules) => RULE_FIELDS.every((name) => brokenBounds(name, rules[name]) === null),
    said: issueRulesTexts.saved,
    failed: issueRulesTexts.failed,
    why,
  })
  const field = (name: RuleField) => {
    const bound = brokenBounds(name, draft[name])
    const unit = issueRulesTexts.units[name]
    return (
      <Field
        key={name}
        label={issueRulesTexts.labels[name]}
        hint={issueRulesTexts.hints[name]}
        value={draft[name]}
        readOnly={why !== undefined}
        inputMode="decimal"
        error={bound === null ? undefined : issueRulesTexts.bound(bound.min, bound.max, bound.isWhole)}
        after={unit === '' ? null : <Minor>{unit}</Minor>}
        onChange={(event) => set({ [name]: event.target.value })}
      />
    )
  }
  return (
    <FormCard title={issueRulesTexts.title} form={form}>
      {RULE_FIELDS.map(field)}
    </FormCard>
  )
}
